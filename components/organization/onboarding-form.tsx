"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";

/** Creates the first organization and project of a person who belongs to none. */
export function OnboardingForm() {
  const trpc = useTRPC();
  const onboard = useAction(trpc.organizations.onboard.mutationOptions(), {
    onDone: ({ projectId }) => window.location.assign(`/projects/${projectId}/jobs`),
    isInPlace: true,
  });
  return (
    <Card className="p-5">
      <Form
        action={onboard}
        send={(sent) =>
          onboard.mutate({
            organizationName: sent.text("organizationName"),
            projectName: sent.text("projectName"),
          })
        }
      >
        <TextField name="organizationName" label="Organization" required maxLength={255} className="h-10" />
        <TextField name="projectName" label="First project" required maxLength={255} className="h-10" />
        <Button type="submit" variant="primary" size="lg" pending={onboard.isPending} className="w-full">
          Create organization
        </Button>
      </Form>
    </Card>
  );
}
