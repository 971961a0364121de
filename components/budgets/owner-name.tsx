import { Caller } from "@/components/callers/caller";
import { ownerName } from "./words";

export type Names = { projectId: string; keyNames: ReadonlyMap<string, string> };

/** Whose a budget is. The name of a person, or of a key of another project, is read by its id. */
export function OwnerName({ projectId, keyNames, scope }: Names & { scope: string }) {
  const [kind, id = ""] = scope.split(":");
  if (kind !== "principal") return ownerName(scope, keyNames);
  return <Caller projectId={projectId} id={id} name={keyNames.get(id)} isPlain />;
}
