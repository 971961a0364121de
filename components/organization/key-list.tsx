"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { NewKey } from "@/components/keys/create-key";
import { Ago } from "@/components/time/moment";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { Dialog, DialogActions, DialogClose, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { ApiKey } from "@/server/contract/organizations";

type NamedKey = ApiKey & { maker: string | null };

/** All keys of an organization, including those of its projects. */
export function KeyList({ organizationId, canWrite }: { organizationId: string; canWrite: boolean }) {
  const trpc = useTRPC();
  const { data: keys } = useSuspenseQuery(trpc.organizations.keys.queryOptions({ organizationId }));
  const { data: projects } = useSuspenseQuery(trpc.organizations.projects.queryOptions({ organizationId }));
  const [isAllShown, setAllShown] = useState(false);
  const nameOf = new Map(projects.map((project) => [project.id, project.displayName]));
  const shown = keys.filter((key) => isAllShown || !key.revoked);
  return (
    <Card aria-labelledby="keys-title" className="overflow-hidden">
      <CardHeader
        id="keys-title"
        title="All API keys"
        actions={
          <>
            <Checkbox
              id="all-keys"
              checked={isAllShown}
              onCheckedChange={(checked) => setAllShown(checked === true)}
            />
            <Label htmlFor="all-keys" className="font-normal text-muted">
              Show revoked
            </Label>
          </>
        }
      />
      {shown.length === 0 ? (
        <EmptyState icon={KeyRound} title="No active keys">
          Create keys in a project, for that project or for every project of the organization.
        </EmptyState>
      ) : (
        <ul aria-labelledby="keys-title" className="divide-y divide-line">
          {shown.map((key) => (
            <li
              key={key.keyId}
              className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3"
              data-key={key.name}
            >
              <div className="min-w-0 flex-1 basis-64 space-y-0.5">
                <div className="flex flex-wrap items-center gap-2 text-sm font-medium">
                  <span dir="auto" className="[overflow-wrap:anywhere]">
                    {key.name}
                  </span>
                  <StateBadge apiKey={key} />
                </div>
                <div className="text-xs text-muted [overflow-wrap:anywhere]">
                  <code>{key.prefix}…</code> ·{" "}
                  {key.projectId ? (nameOf.get(key.projectId) ?? key.projectId) : "Every project"} · created
                  by {key.maker ?? "an operator"} ·{" "}
                  {key.lastUsedAt ? (
                    <>
                      last used <Ago at={key.lastUsedAt} />
                    </>
                  ) : (
                    "never used"
                  )}
                </div>
              </div>
              {canWrite && !key.revoked && <Acts apiKey={key} />}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function StateBadge({ apiKey }: { apiKey: NamedKey }) {
  if (apiKey.revoked) return <Badge>revoked</Badge>;
  const end = apiKey.expiresAt;
  if (end && new Date(end) <= new Date()) return <Badge>expired</Badge>;
  if (apiKey.replacedBy && end)
    return (
      <Badge tone="warn">
        rotated, ends <Ago at={end} />
      </Badge>
    );
  return end ? (
    <Badge tone="good">
      expires <Ago at={end} />
    </Badge>
  ) : (
    <Badge tone="good">active</Badge>
  );
}

function Acts({ apiKey }: { apiKey: NamedKey }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const revoke = useMutation(
    trpc.keys.revoke.mutationOptions({
      onSuccess: () => toast.success(`Key “${apiKey.name}” revoked`),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.organizations.pathKey() }),
    }),
  );
  return (
    <div className="flex gap-2">
      {!apiKey.replacedBy && <RotateKey apiKey={apiKey} />}
      <Confirm
        title={`Revoke “${apiKey.name}”?`}
        description="Anything using this key is refused from its next request. This cannot be undone."
        action="Revoke key"
        onConfirm={() => revoke.mutate({ key_id: apiKey.keyId })}
      >
        <Button size="sm" pending={revoke.isPending} aria-label={`Revoke ${apiKey.name}`}>
          Revoke
        </Button>
      </Confirm>
    </div>
  );
}

const OVERLAPS = [
  { value: "0", label: "None (the old key stops working now)" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
];

/** Creates a key that replaces this one, and shows it once. */
function RotateKey({ apiKey }: { apiKey: NamedKey }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [overlap, setOverlap] = useState("86400");
  const rotate = useMutation(
    trpc.organizations.rotateKey.mutationOptions({ meta: { isShownInPlace: true } }),
  );
  function turn(next: boolean) {
    setOpen(next);
    if (next) return rotate.reset();
    // Refreshing now would drop this row from the list, and the dialog with the new key.
    queryClient.invalidateQueries({ queryKey: trpc.organizations.pathKey() });
  }
  return (
    <Dialog open={isOpen} onOpenChange={turn}>
      <DialogTrigger asChild>
        <Button size="sm" aria-label={`Rotate ${apiKey.name}`}>
          Rotate
        </Button>
      </DialogTrigger>
      {rotate.data ? (
        <NewKey apiKey={rotate.data.apiKey} name={rotate.data.name} />
      ) : (
        <DialogContent
          title={`Rotate “${apiKey.name}”`}
          description="Creates a new key with the same scopes. Both keys work during the overlap."
        >
          {rotate.error && (
            <Notice tone="bad" role="alert" className="mb-4">
              {sentencesOf(rotate.error)}
            </Notice>
          )}
          <div className="grid gap-1.5">
            <Label htmlFor="overlap">Overlap</Label>
            <Select value={overlap} onValueChange={setOverlap}>
              <SelectTrigger id="overlap" />
              <SelectContent>
                {OVERLAPS.map(({ value, label }) => (
                  <SelectItem key={value} value={value}>
                    {label}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          </div>
          <DialogActions>
            <DialogClose asChild>
              <Button>Cancel</Button>
            </DialogClose>
            <Button
              variant="primary"
              pending={rotate.isPending}
              onClick={() => rotate.mutate({ keyId: apiKey.keyId, overlapSeconds: Number(overlap) })}
            >
              Rotate key
            </Button>
          </DialogActions>
        </DialogContent>
      )}
    </Dialog>
  );
}
