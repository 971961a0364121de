"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useCallback } from "react";
import { adapterHref, adaptersHref, environmentOf, newAdapterHref } from "@/components/adapters/list-state";
import { EnvironmentChoice } from "@/components/adapters/room-header";
import { useProject } from "@/components/blocks/data/use-project";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Card, CardBody } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { toast } from "@/components/ui/toaster";
import type { ModelAdapter } from "@/server/contract/adapters";
import type { AddProps } from "./add-props";
import { LinkForm } from "./link-form";
import { RegisterForm } from "./register-form";
import { UploadForm } from "./upload-form";

type Props = { projectId: string; environment: string | undefined };

/** The ways to add an adapter: upload a file, paste a link, or reference another source. */
export function AddAdapter({ projectId, environment: asked }: Props) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const { may, whyNot } = useProject(projectId);
  const mayWrite = may("member");
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
      <PageHeader
        back={{ href: adaptersHref(projectId, { environment }), label: "Adapters" }}
        title="Add adapter"
      >
        Available only in <strong className="font-medium">{environment}</strong>. Adding an adapter is free.
      </PageHeader>
      {!mayWrite && <Notice title="Read-only access">{whyNot("member", "add adapters")}</Notice>}
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
