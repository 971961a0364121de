"use client";
import { useQuery } from "@tanstack/react-query";
import { Mail } from "lucide-react";
import { useState } from "react";
import { useLive } from "@/components/blocks/data/use-live";
import { column } from "@/components/blocks/list/columns";
import { ListTable } from "@/components/blocks/list/list-card";
import type { TableColumn } from "@/components/blocks/list/resource-table";
import { toFailure, useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { OutboxMail } from "@/server/contract/notifications";
import { type NotificationListPosition, outboxHref, toQuery } from "./list-state";

const LOOKS: Record<OutboxMail["state"], { tone: Tone; label: string }> = {
  pending: { tone: "busy", label: "Waiting" },
  sending: { tone: "busy", label: "Sending" },
  sent: { tone: "good", label: "Sent" },
  failed: { tone: "bad", label: "Failed" },
  kept: { tone: "neutral", label: "Stored" },
};

/** For operators: the installation's emails and their delivery state. */
export function OutboxRoom({ place }: { place: NotificationListPosition }) {
  const { data: page } = useLive(useTRPC().notifications.outbox.queryOptions(toQuery(place)), 10_000);
  const [shown, setShown] = useState<OutboxMail | null>(null);
  return (
    <main id="main" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-8 outline-none sm:px-6">
      <PageHeader title="Outbox">
        {page.isSending
          ? "Emails from this installation. Temporary failures are retried for more than a day."
          : "No mail server is configured (SMTP_URL), so nothing is sent. In development, emails are stored here."}
      </PageHeader>
      <ListTable
        noun="emails"
        page={page}
        state={place}
        hrefOf={outboxHref}
        first={
          <EmptyState icon={Mail} title="No emails">
            Emails to members and operators appear here.
          </EmptyState>
        }
        label="Emails, newest first"
        idOf={({ mailId }) => mailId}
        columns={COLUMNS}
        actions={(mail) => (
          <Button size="sm" onClick={() => setShown(mail)} aria-label={`Show email: ${mail.subject}`}>
            Show
          </Button>
        )}
      />
      <Dialog open={shown !== null} onOpenChange={(isOpen) => isOpen || setShown(null)}>
        {shown && (
          <DialogContent title={shown.subject} description={`To ${shown.recipient}`} className="max-w-2xl">
            <MailParts mailId={shown.mailId} />
          </DialogContent>
        )}
      </Dialog>
    </main>
  );
}

const COLUMNS: TableColumn<OutboxMail>[] = [
  {
    header: "Email",
    card: "title",
    className: "[overflow-wrap:anywhere]",
    cell: ({ subject, lastError }) => (
      <>
        <span className="block font-medium">{subject}</span>
        {lastError && <span className="block text-xs text-bad">{lastError}</span>}
      </>
    ),
  },
  { header: "To", className: "text-muted [overflow-wrap:anywhere]", cell: ({ recipient }) => recipient },
  column.status(({ state }) => <Badge tone={LOOKS[state].tone}>{LOOKS[state].label}</Badge>),
  column.ago("Created", ({ createdAt }) => createdAt),
];

/** Both parts of an email. The HTML part is sandboxed: it cannot run scripts, load files or navigate. */
function MailParts({ mailId }: { mailId: string }) {
  const { data: mail, error } = useQuery(
    useTRPC().notifications.outboxMail.queryOptions({ mail_id: mailId }),
  );
  if (error) return <Notice tone="bad">{toFailure(error).message}</Notice>;
  if (!mail) return <Skeleton className="h-96 w-full" />;
  return (
    <Tabs defaultValue="html">
      <TabsList aria-label="Parts of the email">
        <TabsTrigger value="html">Formatted</TabsTrigger>
        <TabsTrigger value="text">Plain text</TabsTrigger>
      </TabsList>
      <TabsContent value="html" className="mt-3">
        <iframe
          title="Email preview"
          sandbox=""
          srcDoc={mail.html}
          className="h-[60dvh] w-full rounded-md border border-line"
        />
      </TabsContent>
      {/* Tab panels take keyboard focus, so the tab panel is what scrolls. */}
      <TabsContent
        value="text"
        className="mt-3 max-h-[60dvh] overflow-auto rounded-md border border-line bg-sunken p-3"
      >
        <pre dir="auto" className="text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
          {mail.text}
        </pre>
      </TabsContent>
    </Tabs>
  );
}
