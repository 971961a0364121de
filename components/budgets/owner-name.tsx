import { Caller } from "@/components/callers/caller";
import { ownerName } from "./words";

export type OwnerNames = { projectId: string; keyNames: ReadonlyMap<string, string> };

/** The owner of a budget. The name of a person, or of a key of another project, is fetched by id. */
export function OwnerName({ projectId, keyNames, scope }: OwnerNames & { scope: string }) {
  const [kind, id = ""] = scope.split(":");
  if (kind !== "principal") return ownerName(scope, keyNames);
  return <Caller projectId={projectId} id={id} name={keyNames.get(id)} isPlain />;
}
