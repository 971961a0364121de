"use client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { LinesField, TextField } from "@/components/blocks/form/fields";
import { Form, focusWrong } from "@/components/blocks/form/form";
import { toFailure } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody } from "@/components/ui/card";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import type { CapabilityRequestBody } from "@/server/contract/requests";
import {
  DRAFT_FIELDS,
  type Draft,
  type DraftField,
  JSON_FIELDS,
  type JsonField,
  readDraft,
  refusedAt,
} from "./draft";

type Body = NonNullable<ReturnType<typeof readDraft>["body"]>;

const JSON_HELP: Record<JsonField | "others", { label: string; help: string; example: string }> = {
  acceptanceCases: {
    label: "Acceptance cases",
    help: "A list of objects with input and expected, which show that the capability works.",
    example: '[{ "input": { "page": 1 }, "expected": { "dimensions": 12 } }]',
  },
  constraints: {
    label: "Constraints",
    help: "An object, for example with the maximum latency.",
    example: '{ "maxLatencySeconds": 30 }',
  },
  proposedCapability: {
    label: "Proposed capability",
    help: "An object with a suggested key.",
    example: '{ "capabilityKey": "drawing.measure.v1" }',
  },
  implementationPreferences: {
    label: "Implementation preferences",
    help: "An object with preferences for how it is built.",
    example: '{ "selfHosted": true }',
  },
  others: {
    label: "Other fields",
    help: "An object with any other fields that should be part of the request and its hash.",
    example: '{ "team": "blue" }',
  },
};
const JSON_NAMES = [...JSON_FIELDS, "others"] as const;

/** The contract's schema, once it is loaded: zod weighs more than the page. */
function useSchema() {
  const [schema, setSchema] = useState<typeof CapabilityRequestBody | null>(null);
  useEffect(() => {
    void import("@/server/contract/requests").then((contract) => setSchema(contract.CapabilityRequestBody));
  }, []);
  return schema;
}

/** The form for a request's content. JSON is checked while typing; missing fields on submit. */
export function RequestForm({
  initial,
  action,
  isPending,
  isSaved,
  error,
  cancel,
  onSend,
}: {
  initial: Draft;
  /** The label of the submit button. */
  action: string;
  isPending: boolean;
  /** It is saved, and its page is about to open. */
  isSaved: boolean;
  /** The server's error from the last attempt. */
  error: unknown;
  cancel: ReactNode;
  onSend(body: Body): void;
}) {
  const [draft, setDraft] = useState(initial);
  const [wasTried, setTried] = useState(false);
  // A server issue is shown until its field changes.
  const [touched, setTouched] = useState<ReadonlySet<DraftField>>(new Set());
  const { body, problems } = readDraft(draft, useSchema());
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) focusWrong(form.current);
  }, [error]);
  useUnsaved(!isSaved && DRAFT_FIELDS.some((field) => draft[field] !== initial[field]));
  const refused = error ? refusedAt(toFailure(error).issues) : {};

  function change(field: DraftField, text: string) {
    setDraft({ ...draft, [field]: text });
    setTouched(new Set([...touched, field]));
  }
  function problemOf(field: DraftField): string | undefined {
    if (refused[field] && !touched.has(field)) return refused[field];
    const isMissing = draft[field].trim() === "";
    return isMissing && !wasTried ? undefined : problems[field];
  }
  function send() {
    setTried(true);
    setTouched(new Set());
    if (body) return onSend(body);
    // After the next paint invalid fields are marked, and the first gets the focus.
    requestAnimationFrame(() => focusWrong(form.current));
  }
  const of = (field: DraftField) => ({
    name: field,
    value: draft[field],
    problem: problemOf(field),
    onChange: ({ target }: { target: { value: string } }) => change(field, target.value),
  });

  return (
    <Form ref={form} send={send} noValidate className="space-y-5">
      <Card>
        <CardBody className="space-y-5">
          <TextField
            {...of("summary")}
            label="Summary"
            hint="One line: what the capability does."
            aria-required
          />
          <LinesField
            {...of("need")}
            label="Need"
            hint="Describe the input, the output and what matters, in as much detail as needed."
            aria-required
            className="min-h-40"
          />
        </CardBody>
      </Card>
      <Card>
        <CardBody className="space-y-5">
          {JSON_NAMES.map((name) => (
            <LinesField
              key={name}
              {...of(name)}
              label={`${JSON_HELP[name].label} (JSON, optional)`}
              hint={JSON_HELP[name].help}
              placeholder={JSON_HELP[name].example}
              spellCheck={false}
              className="min-h-16 font-mono text-xs"
            />
          ))}
        </CardBody>
      </Card>
      <Refusal error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        {cancel}
        <Button type="submit" variant="primary" pending={isPending}>
          {action}
        </Button>
      </div>
    </Form>
  );
}
