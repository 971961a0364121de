"use client";
import type { FormEvent } from "react";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";

/** Creates the first organization and project of a person who belongs to none. */
export function OnboardingForm() {
  const trpc = useTRPC();
  const onboard = useMutation(
    trpc.organizations.onboard.mutationOptions({
      onSuccess: ({ projectId }) => window.location.assign(`/projects/${projectId}/jobs`),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    onboard.mutate({
      organizationName: String(fields.get("organization")),
      projectName: String(fields.get("project")),
    });
  }
  return (
    <Card className="p-5">
      <form onSubmit={submit} className="space-y-4">
        {onboard.error && (
          <Notice tone="bad" role="alert">
            {sentencesOf(onboard.error)}
          </Notice>
        )}
        <div className="space-y-1.5">
          <Label htmlFor="first-organization">Organization</Label>
          <Input id="first-organization" name="organization" required maxLength={255} className="h-10" />
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="first-project">First project</Label>
          <Input id="first-project" name="project" required maxLength={255} className="h-10" />
        </div>
        <Button type="submit" variant="primary" size="lg" pending={onboard.isPending} className="w-full">
          {" "}
          Create organization
        </Button>
      </form>
    </Card>
  );
}
