"use client";
import { Tag } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { discardTyped, isAnythingUnsaved, useUnsaved } from "@/components/unsaved/unsaved-work";
import type { RequestDossier } from "@/server/contract/dossiers";
import { QuoteForm } from "./quote-form";
import { QuoteTerms } from "./quote-terms";
import { EMPTY_QUOTE, type QuoteDraft, type ReadQuote } from "./read-quote";
import type { ActProps } from "./use-act";
import { useActEnds } from "./use-act";

/** Issues a commission quote: filled in, previewed as the customer will see it, then issued. */
export function QuoteDialog({ dossier, onOutdated }: ActProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog
      open={isOpen}
      onOpenChange={(next) =>
        next || !isAnythingUnsaved() ? setOpen(next) : discardTyped(() => setOpen(false))
      }
    >
      <DialogTrigger asChild>
        <Button variant="primary">
          <Tag aria-hidden /> Issue quote
        </Button>
      </DialogTrigger>
      {isOpen && <QuoteSteps dossier={dossier} onOutdated={onOutdated} onClose={() => setOpen(false)} />}
    </Dialog>
  );
}

function QuoteSteps({ dossier, onOutdated, onClose }: ActProps & { onClose: () => void }) {
  const trpc = useTRPC();
  // The revision that the operator sees. If the request has a newer one by then, issuing is refused.
  const [read] = useState(dossier.request.revision);
  const [draft, setDraft] = useState<QuoteDraft>(EMPTY_QUOTE);
  const [terms, setTerms] = useState<ReadQuote | null>(null);
  const ends = useActEnds({ done: "Quote issued", onEnd: onClose, onOutdated });
  const issue = useAction(trpc.operator.issueQuote.mutationOptions(ends), {});
  useUnsaved(draft !== EMPTY_QUOTE && !issue.isSuccess);
  const about = `For revision ${read.number} of “${summaryOf(dossier)}”.`;
  if (!terms)
    return (
      <DialogContent
        className="max-w-2xl"
        title="Issue quote"
        description={`${about} You can preview it before it is issued.`}
      >
        <QuoteForm draft={draft} onChange={setDraft} onRead={setTerms} />
      </DialogContent>
    );
  return (
    <DialogContent
      className="max-w-2xl"
      title="Preview quote"
      description={`${about} This is what the customer will see. Once issued, a quote cannot be changed. It can be paid for 14 days.`}
    >
      <div className="space-y-4">
        <Refusal error={issue.error} />
        <QuoteTerms {...terms} />
        <DialogActions>
          <Button disabled={issue.isPending} onClick={() => setTerms(null)}>
            Edit quote
          </Button>
          <Button
            variant="primary"
            pending={issue.isPending}
            onClick={() => issue.mutate({ requestId: dossier.request.id, revisionId: read.id, ...terms })}
          >
            Issue quote
          </Button>
        </DialogActions>
      </div>
    </DialogContent>
  );
}

const summaryOf = ({ request }: RequestDossier): string => {
  const summary = String(request.revision.content.summary ?? "");
  return summary.length > 80 ? `${summary.slice(0, 79)}…` : summary;
};
