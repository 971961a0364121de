"use client";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { AmountInput } from "@/components/ui/amount-field";
import { Button } from "@/components/ui/button";
import { DialogActions, DialogClose } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import { BillingCurrency } from "@/server/contract/billing";
import { RuntimePricingDraft } from "@/server/contract/requests";
import { type QuoteDraft, type ReadQuote, readQuote } from "./read-quote";

const MODES: Record<QuoteDraft["mode"], string> = {
  free: "Free",
  fixed: "Fixed price per run",
  metered: "Metered by usage",
  hybrid: "Fixed price plus usage",
};

/** The fields of a commission quote. Errors appear beside each field on submit. */
export function QuoteForm({
  draft,
  onChange,
  onRead,
}: {
  draft: QuoteDraft;
  onChange: (draft: QuoteDraft) => void;
  onRead: (quote: ReadQuote) => void;
}) {
  const [problems, setProblems] = useState<Partial<Record<keyof QuoteDraft, string>>>({});
  const id = useId();
  const set = (change: Partial<QuoteDraft>) => {
    onChange({ ...draft, ...change });
    setProblems((known) => Object.fromEntries(Object.entries(known).filter(([name]) => !(name in change))));
  };
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const { quote, problems: found } = readQuote(draft);
    setProblems(found);
    if (quote) return onRead(quote);
    const [first] = Object.keys(found);
    event.currentTarget.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
  }
  const text = (name: "price" | "display" | "startingAt" | "days" | "note") => ({
    id: `${id}-${name}`,
    name,
    value: draft[name],
    "aria-invalid": problems[name] ? true : undefined,
    "aria-describedby": problems[name] ? `${id}-${name}-problem` : undefined,
    onChange: ({ target }: { target: { value: string } }) => set({ [name]: target.value }),
  });
  const field = (name: keyof QuoteDraft, label: ReactNode, control: ReactNode) => (
    <div className="min-w-0 space-y-1.5">
      <Label htmlFor={`${id}-${name}`}>{label}</Label>
      {control}
      {problems[name] && (
        <p id={`${id}-${name}-problem`} className="text-xs text-bad">
          {problems[name]}
        </p>
      )}
    </div>
  );
  const isFree = draft.mode === "free";
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem_minmax(0,1fr)]">
        {field("price", "Price, before tax", <AmountInput {...text("price")} placeholder="1250.00" />)}
        {field(
          "currency",
          "Currency",
          <Select
            value={draft.currency}
            onValueChange={(value) => set({ currency: BillingCurrency.parse(value) })}
          >
            <SelectTrigger id={`${id}-currency`} />
            <SelectContent>
              {BillingCurrency.options.map((each) => (
                <SelectItem key={each} value={each}>
                  {each}
                </SelectItem>
              ))}
            </SelectContent>
          </Select>,
        )}
        {field(
          "days",
          "Delivery (business days)",
          <Input {...text("days")} inputMode="numeric" autoComplete="off" />,
        )}
      </div>
      <fieldset className="space-y-4 rounded-md border border-line p-3">
        <legend className="px-1 text-sm font-medium">Price per run</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          {field(
            "mode",
            "Pricing",
            <Select
              value={draft.mode}
              onValueChange={(value) => set({ mode: RuntimePricingDraft.shape.mode.parse(value) })}
            >
              <SelectTrigger id={`${id}-mode`} />
              <SelectContent>
                {RuntimePricingDraft.shape.mode.options.map((each) => (
                  <SelectItem key={each} value={each}>
                    {MODES[each]}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>,
          )}
          {!isFree &&
            field(
              "startingAt",
              <>
                Starting price in {draft.currency} <span className="font-normal text-muted">(optional)</span>
              </>,
              <AmountInput {...text("startingAt")} placeholder="0.02" />,
            )}
        </div>
        {field(
          "display",
          "Description",
          <Input
            {...text("display")}
            maxLength={300}
            autoComplete="off"
            placeholder="about $0.02 per page"
          />,
        )}
      </fieldset>
      {field(
        "note",
        <>
          Note to the customer <span className="font-normal text-muted">(optional)</span>
        </>,
        <Textarea {...text("note")} maxLength={4_000} />,
      )}
      <DialogActions>
        <DialogClose asChild>
          <Button>Cancel</Button>
        </DialogClose>
        <Button type="submit" variant="primary">
          Preview
        </Button>
      </DialogActions>
    </form>
  );
}
