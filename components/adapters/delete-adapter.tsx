"use client";
import { useRouter } from "next/navigation";
import { textIn } from "@/components/blocks/data/unknown";
import { useAction } from "@/components/blocks/data/use-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { oneOf } from "@/components/blocks/list/list-state";
import { toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";
import type { ModelAdapter } from "@/server/contract/adapters";
import { adaptersHref, aliasHref, defaultsHref } from "./list-state";

const KINDS = ["alias", "default", "binding"] as const;
type Reference = { kind: (typeof KINDS)[number]; name: string };

/** What still uses the adapter, from the details of a refusal. */
function referencesIn(details: unknown): Reference[] {
  if (!Array.isArray(details)) return [];
  return details.flatMap((each) => {
    const kind = oneOf(KINDS)(textIn(each, "kind"));
    const name = textIn(each, "name");
    return kind && name ? [{ kind, name }] : [];
  });
}

/** Deletes an adapter, or links to what still uses it. */
export function DeleteAdapter({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { environment } = adapter;
  const remove = useAction(trpc.adapters.remove.mutationOptions(), {
    isInPlace: true,
    done: "Adapter deleted",
    onDone: () => router.push(adaptersHref(projectId, { environment })),
    refresh: [trpc.adapters.list.pathKey()],
  });
  const references = remove.error ? referencesIn(toFailure(remove.error).details.references) : [];
  return (
    <FormDialog
      title={`Delete “${adapter.displayName}”?`}
      description="Requests can no longer use it, and its name becomes available again. Existing receipts don't change."
      trigger={<Button>Delete</Button>}
      action={remove}
      send={() => remove.mutate({ adapter_id: adapter.adapterId })}
      submit="Delete adapter"
      tone="danger"
      isReady={references.length === 0}
    >
      {references.length > 0 && (
        <ul aria-label="Used by" className="list-disc pl-4 text-sm">
          {references.map((reference) => (
            <li key={`${reference.kind} ${reference.name}`}>
              <Link href={placeOf(projectId, environment, reference)} className="text-link underline">
                {REFERENCE[reference.kind](reference.name)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

const REFERENCE: Record<Reference["kind"], (name: string) => string> = {
  alias: (name) => `Alias “${name}” points to it`,
  default: (name) => `Default for ${name}`,
  binding: (name) => `The recipe is pinned to a version of “${name}” that uses it`,
};

const placeOf = (projectId: string, environment: string, { kind, name }: Reference): string =>
  kind === "default" ? defaultsHref(projectId, environment) : aliasHref(projectId, name, { environment });
