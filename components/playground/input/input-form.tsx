"use client";
import { useState } from "react";
import { isJsonObject } from "@/components/blocks/data/unknown";
import type { FieldIssue } from "@/components/data/trpc";
import { exampleInput } from "@/components/playground/example";
import { blankOf, type Input, type InputSchema, type Path, withValue } from "@/components/playground/schema";
import { Section } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Select } from "@/components/ui/select";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import { ObjectFields } from "./fields";
import type { FormFieldProps } from "./frame";
import { JsonText } from "./json-text";

/** A capability's input as a form and as JSON, two views of one value, with examples to start from. */
export function InputForm({
  projectId,
  capability,
  input,
  disabled,
  hasUnread,
  issues,
  onChange,
}: {
  projectId: string;
  capability: CapabilityDescriptor;
  input: Input;
  disabled: boolean;
  /**
   * True while a text in the form is not valid JSON. Switching views is then disabled, because the other view would lose the
   * text.
   */
  hasUnread: boolean;
  /** Issues by path. */
  issues: FieldIssue[];
  onChange(change: Input | ((before: Input) => Input)): void;
}) {
  const [view, setView] = useState("form");
  const schema = inputSchemaOf(capability);
  const form: FormFieldProps = {
    root: schema,
    projectId,
    disabled,
    issues,
    set: (path: Path, value: unknown) => onChange((before) => withValue(before, path, value) as Input),
  };
  // The JSON view has no fields to show issues at.
  const loose = issues.filter(
    ({ loc }) => view === "json" || loc.length === 0 || !(String(loc[0]) in (schema.properties ?? {})),
  );
  return (
    <Tabs value={view} onValueChange={setView}>
      <Section
        title="Input"
        actions={
          <>
            {capability.examples.length > 0 && (
              <Examples
                capability={capability}
                disabled={disabled}
                onPick={(place) => onChange(exampleInput(capability, place) ?? {})}
              />
            )}
            <TabsList aria-label="Input view">
              <TabsTrigger value="form" disabled={hasUnread && view !== "form"}>
                Form
              </TabsTrigger>
              <TabsTrigger value="json" disabled={hasUnread && view !== "json"}>
                JSON
              </TabsTrigger>
            </TabsList>
          </>
        }
      >
        {loose.length > 0 && (
          <Notice tone="bad" className="mb-4">
            {loose.map(({ loc, msg }) => (
              <p key={`${loc.join(".")} ${msg}`}>
                {loc.length > 0 && <code>{loc.join(".")}: </code>}
                {msg}
              </p>
            ))}
          </Notice>
        )}
        <TabsContent value="form">
          <ObjectFields form={form} path={[]} schema={schema} value={input} />
        </TabsContent>
        <TabsContent value="json">
          <JsonText
            aria={{}}
            value={input}
            disabled={disabled}
            onChange={(value) => isJsonObject(value) && onChange(value)}
            label="Input as JSON"
            holds="object"
            className="min-h-64"
          />
        </TabsContent>
      </Section>
    </Tabs>
  );
}

/** The form's initial value: the first example, or the smallest valid input. */
export function initialInput(capability: CapabilityDescriptor): Input {
  const schema = inputSchemaOf(capability);
  return exampleInput(capability, 0) ?? (blankOf(schema, schema) as Input);
}

/** The input's schema, which we publish as JSON Schema. */
export const inputSchemaOf = (capability: CapabilityDescriptor): InputSchema => capability.inputSchema;

function Examples({
  capability,
  disabled,
  onPick,
}: {
  capability: CapabilityDescriptor;
  disabled: boolean;
  onPick(place: number): void;
}) {
  return (
    <Select
      aria-label="Load an example"
      placeholder="Examples"
      className="h-7 w-auto max-w-40 text-xs"
      value=""
      disabled={disabled}
      options={capability.examples.map((example, place) => ({
        value: String(place),
        label: titleOf(example, place),
      }))}
      onValueChange={(place) => onPick(Number(place))}
    />
  );
}

const titleOf = (example: Record<string, unknown>, place: number) =>
  typeof example.title === "string" ? example.title : `Example ${place + 1}`;
