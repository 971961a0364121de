"use client";
import { useRef, useState } from "react";
import { ChoiceField, LinesField, MoneyField, TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { Button } from "@/components/ui/button";
import { DialogActions, DialogClose } from "@/components/ui/dialog";
import { BILLING_CURRENCIES, RUNTIME_PRICING_MODES } from "@/server/contract/enums";
import { PRICE, type QuoteDraft, type ReadQuote, readQuote, STARTING_PRICE } from "./read-quote";

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
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Partial<Record<keyof QuoteDraft, string>>>({});
  const set = (change: Partial<QuoteDraft>) => {
    onChange({ ...draft, ...change });
    setProblems((known) => Object.fromEntries(Object.entries(known).filter(([name]) => !(name in change))));
  };
  const amount = (name: "price" | "startingAt") => ({
    name,
    text: draft[name],
    problem: problems[name],
    onText: (value: string) => set({ [name]: value }),
  });
  const text = (name: "display" | "days" | "note") => ({
    name,
    value: draft[name],
    problem: problems[name],
    onChange: ({ target }: { target: { value: string } }) => set({ [name]: target.value }),
  });
  return (
    <Form
      noValidate
      send={() => {
        const { quote, problems: found } = readQuote(draft);
        setProblems(found);
        if (quote) return onRead(quote);
        const [first] = Object.keys(found);
        form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
      }}
      ref={form}
    >
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_8rem_minmax(0,1fr)]">
        <MoneyField
          {...amount("price")}
          label="Price, before tax"
          bounds={PRICE}
          required
          placeholder="1250.00"
        />
        <ChoiceField
          name="currency"
          label="Currency"
          value={draft.currency}
          onValueChange={(value) => set({ currency: oneOfOr("USD", BILLING_CURRENCIES)(value) })}
          options={toOptions(BILLING_CURRENCIES)}
        />
        <TextField {...text("days")} label="Delivery (business days)" inputMode="numeric" />
      </div>
      <fieldset className="space-y-4 rounded-md border border-line p-3">
        <legend className="px-1 text-sm font-medium">Price per run</legend>
        <div className="grid gap-4 sm:grid-cols-2">
          <ChoiceField
            name="mode"
            label="Pricing"
            value={draft.mode}
            onValueChange={(value) => set({ mode: oneOfOr("metered", RUNTIME_PRICING_MODES)(value) })}
            options={RUNTIME_PRICING_MODES.map((value) => ({ value, label: MODES[value] }))}
          />
          {draft.mode !== "free" && (
            <MoneyField
              {...amount("startingAt")}
              label={`Starting price in ${draft.currency} (optional)`}
              bounds={STARTING_PRICE}
              placeholder="0.02"
            />
          )}
        </div>
        <TextField
          {...text("display")}
          label="Description"
          maxLength={300}
          placeholder="about $0.02 per page"
        />
      </fieldset>
      <LinesField {...text("note")} label="Note to the customer (optional)" maxLength={4_000} />
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
