"use client";
import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { type ProjectChoice, toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { CheckList } from "@/components/ui/check-list";
import { Dialog, DialogActions, DialogClose, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { SecretDialog } from "@/components/ui/secret-dialog";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import { Scope } from "@/server/contract/organizations";

const DAY_SECONDS = 86_400;
const LIFETIMES = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "No expiry" },
];

type ScopeName = (typeof Scope.options)[number];

/** Scopes that are off by default: deciding for people, and handling other people's secrets. */
const ON_PURPOSE: readonly ScopeName[] = ["approvals:write", "credentials:write"];
const ADMINS_ONLY: readonly ScopeName[] = ["credentials:write"];

/** Creates a key in a dialog that then shows it once. */
export function CreateKey({ project }: { project: ProjectChoice }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>
        <Button variant="primary">
          <Plus aria-hidden />
          Create key
        </Button>
      </DialogTrigger>
      {isOpen && <CreateKeyDialog project={project} />}
    </Dialog>
  );
}

function CreateKeyDialog({ project }: { project: ProjectChoice }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const isAdmin = project.role === "owner" || project.role === "admin";
  const offered = Scope.options.filter((scope) => isAdmin || !ADMINS_ONLY.includes(scope));
  const [scopes, setScopes] = useState<ReadonlySet<ScopeName>>(
    () => new Set(offered.filter((scope) => !ON_PURPOSE.includes(scope))),
  );
  const create = useMutation(
    trpc.keys.create.mutationOptions({
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.keys.pathKey() }),
      meta: { isShownInPlace: true },
    }),
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const lifetime = fields.get("lifetime");
    const isBound = fields.get("reach") !== "organization";
    create.mutate({
      name: String(fields.get("name")),
      ...(isBound ? { projectId: project.projectId } : { organizationId: project.organizationId }),
      environment: String(fields.get("environment")),
      scopes: offered.filter((scope) => scopes.has(scope)),
      ...(lifetime === "never" ? {} : { expiresInSeconds: Number(lifetime) * DAY_SECONDS }),
    });
  }

  if (create.data) return <NewKey apiKey={create.data.apiKey} name={create.data.name} />;

  return (
    <DialogContent
      title="Create API key"
      description="A key can do what its scopes allow, and never more than you can."
    >
      <form onSubmit={submit} className="space-y-4">
        {create.error && (
          <Notice tone="bad" role="alert">
            {toFailure(create.error).message}
          </Notice>
        )}
        <div className="space-y-1.5">
          <Label htmlFor="key-name">Name</Label>
          <Input
            id="key-name"
            name="name"
            required
            maxLength={255}
            placeholder="Nightly agent"
            autoComplete="off"
          />
        </div>
        <div className="grid gap-4 sm:grid-cols-2">
          <Choice
            id="key-reach"
            name="reach"
            label="Access"
            initial="project"
            options={[
              { value: "project", label: "This project" },
              { value: "organization", label: "Every project" },
            ]}
          />
          <Choice
            id="key-environment"
            name="environment"
            label="Environment"
            initial={
              project.environments.includes("development") ? "development" : (project.environments[0] ?? "")
            }
            options={project.environments.map((slug) => ({ value: slug, label: slug }))}
          />
        </div>
        <Choice id="key-lifetime" name="lifetime" label="Expiry" initial="90" options={LIFETIMES} />
        <fieldset>
          <legend className="text-sm font-medium">Scopes</legend>
          <CheckList prefix="scope" names={offered} chosen={scopes} onChange={setScopes} />
        </fieldset>
        <DialogActions>
          <DialogClose asChild>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" variant="primary" pending={create.isPending} disabled={scopes.size === 0}>
            Create key
          </Button>
        </DialogActions>
      </form>
    </DialogContent>
  );
}

function Choice({
  id,
  name,
  label,
  initial,
  options,
}: {
  id: string;
  name: string;
  label: string;
  initial: string;
  options: { value: string; label: string }[];
}) {
  return (
    <div className="grid gap-1.5">
      <Label htmlFor={id}>{label}</Label>
      <Select name={name} defaultValue={initial}>
        <SelectTrigger id={id} />
        <SelectContent>
          {options.map((option) => (
            <SelectItem key={option.value} value={option.value}>
              {option.label}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
    </div>
  );
}

/** Shows the new key once. */
export function NewKey({ apiKey, name }: { apiKey: string; name: string }) {
  return (
    <SecretDialog
      title="Copy your key now"
      description={`This is the only time “${name}” is shown in full. If you lose it, revoke it and create another.`}
      secret={apiKey}
      what="API key"
      testId="new-key"
    />
  );
}
