"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useCallback } from "react";
import { toast } from "sonner";
import { BackLink } from "@/components/shell/back-link";
import { PageHeader } from "@/components/shell/page-header";
import { useRole, useTRPC } from "@/components/trpc";
import { Card, CardBody } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { ModelAdapter } from "@/server/contract/adapters";
import type { AddProps } from "./add-props";
import { LinkForm } from "./link-form";
import { adapterHref, adaptersHref, environmentOf, newAdapterHref } from "./list-state";
import { RegisterForm } from "./register-form";
import { EnvironmentChoice } from "./room-header";
import { UploadForm } from "./upload-form";

/** The ways to add an adapter: upload a file, paste a link, or reference another source. */
export function AddAdapter({
  projectId,
  environment: asked,
}: {
  projectId: string;
  environment: string | undefined;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const { role, mayWrite } = useRole(projectId);
  const environment = environmentOf({ environment: asked });
  const onAdded = useCallback(
    (adapter: ModelAdapter, words: string) => {
      toast.success(words);
      queryClient.invalidateQueries({ queryKey: trpc.adapters.pathKey() });
      router.push(adapterHref(projectId, adapter.adapterId));
    },
    [projectId, queryClient, router, trpc],
  );
  const props: AddProps = { projectId, environment, onAdded };
  return (
    <>
      <BackLink href={adaptersHref(projectId, { environment })}>Adapters</BackLink>
      <div className="mt-2">
        <PageHeader title="Add adapter">
          Available only in <strong className="font-medium">{environment}</strong>. Adding an adapter is free.
        </PageHeader>
      </div>
      {!mayWrite && (
        <Notice title="Read-only access">
          Members of your organization can add adapters. Your role here is {role}.
        </Notice>
      )}
      {mayWrite && (
        <Tabs defaultValue="file">
          <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
            <TabsList aria-label="Source of the weights">
              <TabsTrigger value="file">Upload a file</TabsTrigger>
              <TabsTrigger value="link">Paste a link</TabsTrigger>
              <TabsTrigger value="known">Other source</TabsTrigger>
            </TabsList>
            <EnvironmentChoice
              projectId={projectId}
              environment={environment}
              hrefOf={(other) => newAdapterHref(projectId, other)}
            />
          </div>
          <Card className="max-w-3xl">
            <CardBody>
              {/* All tabs stay mounted: switching keeps a running upload and typed text. */}
              <TabsContent value="file" forceMount className="data-[state=inactive]:hidden">
                <UploadForm {...props} />
              </TabsContent>
              <TabsContent value="link" forceMount className="data-[state=inactive]:hidden">
                <LinkForm {...props} />
              </TabsContent>
              <TabsContent value="known" forceMount className="data-[state=inactive]:hidden">
                <RegisterForm {...props} />
              </TabsContent>
            </CardBody>
          </Card>
        </Tabs>
      )}
    </>
  );
}
