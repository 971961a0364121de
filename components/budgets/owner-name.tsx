import { Caller } from "@/components/callers/caller";
import { ownerName } from "./words";

/** Whose a budget is. The name of a key or person is read by its id. */
export function OwnerName({ projectId, scope }: { projectId: string; scope: string }) {
  const [kind, id = ""] = scope.split(":");
  return kind === "principal" ? (
    <Caller projectId={projectId} id={id} isPlain />
  ) : (
    ownerName(scope, new Map())
  );
}
