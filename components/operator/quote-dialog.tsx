"use client";
import { Tag } from "lucide-react";
import { useRef, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { ChoiceField, LinesField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { Form, focusWrong } from "@/components/blocks/form/form";
import type { FormValues } from "@/components/blocks/form/form-values";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { formatMoney } from "@/components/blocks/money/money";
import { daysOf } from "@/components/commissions/offer";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogClose, DialogContent } from "@/components/ui/dialog";
import { Fact, Facts } from "@/components/ui/facts";
import { discardTyped, isAnythingUnsaved, useUnsaved } from "@/components/unsaved/unsaved-work";
import type { RequestDossier } from "@/server/contract/dossiers";
import { BILLING_CURRENCIES, RUNTIME_PRICING_MODES } from "@/server/contract/enums";
import {
  EMPTY_QUOTE,
  PRICE,
  type QuoteDraft,
  type QuoteProblems,
  type ReadQuote,
  readQuote,
  STARTING_PRICE,
} from "./read-quote";
import { type ActProps, useActEnds } from "./use-act";

/** Issues a commission quote: filled in, previewed as the customer will see it, then issued. */
export function QuoteDialog({ dossier, onOutdated }: ActProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog
      open={isOpen}
      onOpenChange={(next) =>
        next || !isAnythingUnsaved() ? setOpen(next) : discardTyped(() => setOpen(false))
      }
      trigger={
        <Button variant="primary">
          <Tag aria-hidden /> Issue quote
        </Button>
      }
    >
      {isOpen && <QuoteSteps dossier={dossier} onOutdated={onOutdated} onClose={() => setOpen(false)} />}
    </Dialog>
  );
}

function QuoteSteps({ dossier, onOutdated, onClose }: ActProps & { onClose: () => void }) {
  const trpc = useTRPC();
  // The revision that the operator sees. Issuing is refused if the request has a newer one by then.
  const [read] = useState(dossier.request.revision);
  const [draft, setDraft] = useState<QuoteDraft>(EMPTY_QUOTE);
  const [isTyped, setTyped] = useState(false);
  const [terms, setTerms] = useState<ReadQuote | null>(null);
  const ends = useActEnds({ done: "Quote issued", onEnd: onClose, onOutdated });
  const issue = useAction(trpc.operator.issueQuote.mutationOptions(ends), {});
  useUnsaved(isTyped && !issue.isSuccess);
  const about = `For revision ${read.number} of “${summaryOf(dossier)}”.`;
  if (!terms)
    return (
      <DialogContent
        className="max-w-2xl"
        title="Issue quote"
        description={`${about} You can preview it before it is issued.`}
      >
        <QuoteForm
          draft={draft}
          onTyped={() => setTyped(true)}
          onRead={(typed, quote) => {
            setDraft(typed);
            setTerms(quote);
          }}
        />
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

const MODES: Record<QuoteDraft["mode"], string> = {
  free: "Free",
  fixed: "Fixed price per run",
  metered: "Metered by usage",
  hybrid: "Fixed price plus usage",
};

/** The fields of a commission quote. Errors appear beside each field on submit. */
function QuoteForm({
  draft,
  onTyped,
  onRead,
}: {
  draft: QuoteDraft;
  onTyped(): void;
  onRead(typed: QuoteDraft, quote: ReadQuote): void;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<QuoteProblems>({});
  const [currency, setCurrency] = useState(draft.currency);
  const [mode, setMode] = useState(draft.mode);
  const of = (name: keyof QuoteDraft) => ({ name, problem: problems[name] });
  function send({ raw }: FormValues) {
    const [price, startingAt, display] = [raw("price"), raw("startingAt"), raw("display")];
    const typed = { price, startingAt, display, days: raw("days"), note: raw("note"), currency, mode };
    const { quote, problems: found } = readQuote(typed);
    setProblems(found);
    if (quote) onRead(typed, quote);
    else requestAnimationFrame(() => focusWrong(form.current));
  }
  return (
    <Form noValidate send={send} onInput={onTyped} ref={form}>
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem_minmax(0,1fr)]">
        <MoneyField
          {...of("price")}
          initial={draft.price}
          label="Price, before tax"
          bounds={PRICE}
          required
          placeholder="1250.00"
        />
        <ChoiceField
          name="currency"
          label="Currency"
          value={currency}
          onValueChange={(value) => setCurrency(oneOfOr("USD", BILLING_CURRENCIES)(value))}
          options={toOptions(BILLING_CURRENCIES)}
        />
        <TextField
          {...of("days")}
          defaultValue={draft.days}
          label="Delivery (business days)"
          inputMode="numeric"
        />
      </div>
      <fieldset className="space-y-4 rounded-md border border-line p-3">
        <legend className="px-1 text-sm font-medium">Price per run</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          <ChoiceField
            name="mode"
            label="Pricing"
            value={mode}
            onValueChange={(value) => setMode(oneOfOr("metered", RUNTIME_PRICING_MODES)(value))}
            options={RUNTIME_PRICING_MODES.map((value) => ({ value, label: MODES[value] }))}
          />
          {mode !== "free" && (
            <MoneyField
              {...of("startingAt")}
              initial={draft.startingAt}
              label={`Starting price in ${currency} (optional)`}
              bounds={STARTING_PRICE}
              placeholder="0.02"
            />
          )}
        </div>
        <TextField
          {...of("display")}
          defaultValue={draft.display}
          label="Description"
          maxLength={300}
          placeholder="about $0.02 per page"
        />
      </fieldset>
      <LinesField
        {...of("note")}
        defaultValue={draft.note}
        label="Note to the customer (optional)"
        maxLength={4_000}
      />
      <DialogActions>
        <DialogClose asChild>
          <Button>Cancel</Button>
        </DialogClose>
        <Button type="submit" variant="primary">
          Preview
        </Button>
      </DialogActions>
    </Form>
  );
}

/** A commission quote's terms as the customer sees them. */
function QuoteTerms({ priceMicros, currency, runtimePricing, targetBusinessDays, note }: ReadQuote) {
  const { startingAtMicros } = runtimePricing;
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Price">
          <span className="text-lg font-semibold">
            {formatMoney({ amountMicros: priceMicros, currency })}
          </span>{" "}
          <span className="text-muted">before tax, paid once</span>
        </Fact>
        <Fact name="Price per run">
          {runtimePricing.display} <span className="text-muted">(projected)</span>
        </Fact>
        <Fact name="Starting price">
          {startingAtMicros != null && formatMoney({ amountMicros: startingAtMicros, currency })}
        </Fact>
        <Fact name="Delivery">About {daysOf(targetBusinessDays, "business day")} after payment</Fact>
      </Facts>
      {note && (
        <figure className="rounded-md border border-line bg-sunken p-3">
          <figcaption className="mb-1 text-xs font-medium text-muted">From the operator</figcaption>
          <blockquote dir="auto" className="text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
            {note}
          </blockquote>
        </figure>
      )}
    </div>
  );
}
