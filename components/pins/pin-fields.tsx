"use client";
import Link from "next/link";
import type { ReactNode } from "react";
import type { FieldIssue } from "@/components/trpc";
import { Checkbox } from "@/components/ui/checkbox";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import type { PinChoice } from "@/server/contract/pinned";
import { SAMPLING, type SamplingName, type SamplingText, toSampling } from "./sampling";

/** The form's state. */
export type PinDraft = {
  /** Provider and API, as one choice. */
  place: string;
  model: string;
  instructions: string;
  input: string;
  sampling: SamplingText;
  isDeferred: boolean;
  includeNativeResponse: boolean;
};

const placeOf = ({ pin }: PinChoice) => `${pin.provider}/${pin.api}`;

/** An empty form with the first pin that can run now. */
export function blankPin(choices: readonly PinChoice[]): PinDraft {
  const first = choices.find(({ isConnected }) => isConnected) ?? choices[0];
  return {
    place: first ? placeOf(first) : "",
    model: first?.pin.model ?? "",
    instructions: "",
    input: "",
    sampling: {},
    isDeferred: false,
    includeNativeResponse: false,
  };
}

const chosenOf = ({ place, model }: PinDraft, choices: readonly PinChoice[]) =>
  choices.find((choice) => placeOf(choice) === place && choice.pin.model === model);

/** The form as a request. Empty fields are omitted. */
export function toBody(draft: PinDraft, choices: readonly PinChoice[], projectId: string) {
  const choice = chosenOf(draft, choices);
  const sampling = choice && toSampling(draft.sampling, choice.sampling);
  return {
    context: { projectId },
    pin: choice?.pin ?? null,
    ...(draft.instructions === "" ? {} : { instructions: draft.instructions }),
    input: draft.input,
    ...(draft.isDeferred && choice?.canDefer ? { processing: "deferred" } : {}),
    ...(sampling ? { sampling } : {}),
    ...(draft.includeNativeResponse ? { includeNativeResponse: true } : {}),
  };
}

/** The fields of a pinned request, each with its error below. */
export function PinFields({
  projectId,
  choices,
  draft,
  disabled,
  issues,
  onChange,
}: {
  projectId: string;
  choices: readonly PinChoice[];
  draft: PinDraft;
  disabled: boolean;
  issues: FieldIssue[];
  onChange(change: Partial<PinDraft>): void;
}) {
  const places = [...new Map(choices.map((choice) => [placeOf(choice), choice])).values()];
  const models = choices.filter((choice) => placeOf(choice) === draft.place);
  const chosen = chosenOf(draft, choices);
  const problemOf = (...path: string[]) =>
    issues.find(({ loc }) => loc.filter((step) => step !== "body").join(".") === path.join("."))?.msg;
  const elsewhere = issues.filter(({ loc }) => !KNOWN.has(String(loc.filter((step) => step !== "body")[0])));
  return (
    <>
      {elsewhere.length > 0 && (
        <p className="text-sm text-bad">{elsewhere.map(({ msg }) => msg).join(" ")}</p>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Framed
          id="pin-place"
          label="Provider and API"
          problem={problemOf("pin", "provider") ?? problemOf("pin", "api")}
        >
          {(aria) => (
            <Select
              value={draft.place}
              disabled={disabled}
              onValueChange={(place) =>
                onChange({
                  place,
                  model: choices.find((choice) => placeOf(choice) === place)?.pin.model ?? "",
                })
              }
            >
              <SelectTrigger {...aria} />
              <SelectContent>
                {places.map((choice) => (
                  <SelectItem key={placeOf(choice)} value={placeOf(choice)}>
                    {choice.providerTitle} · {choice.pin.api}
                    {!choice.isConnected && " (not connected)"}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          )}
        </Framed>
        <Framed id="pin-model" label="Model" problem={problemOf("pin", "model")}>
          {(aria) => (
            <Select value={draft.model} disabled={disabled} onValueChange={(model) => onChange({ model })}>
              <SelectTrigger {...aria} />
              <SelectContent>
                {models.map(({ pin }) => (
                  <SelectItem key={pin.model} value={pin.model}>
                    {pin.model}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          )}
        </Framed>
      </div>
      {chosen && !chosen.isConnected && (
        <p className="text-sm text-muted">
          This needs a connection to {chosen.providerTitle}.{" "}
          <Link
            href={`/projects/${projectId}/connections?provider=${chosen.pin.provider}`}
            className="text-link underline"
          >
            {" "}
            Connect account
          </Link>
        </p>
      )}
      <Framed id="pin-instructions" label="Instructions" problem={problemOf("instructions")}>
        {(aria) => (
          <Textarea
            {...aria}
            value={draft.instructions}
            disabled={disabled}
            placeholder="Not sent if empty"
            className="min-h-16"
            onChange={({ target }) => onChange({ instructions: target.value })}
          />
        )}
      </Framed>
      <Framed id="pin-input" label="Input" problem={problemOf("input")}>
        {(aria) => (
          <Textarea
            {...aria}
            value={draft.input}
            disabled={disabled}
            required
            className="min-h-28"
            onChange={({ target }) => onChange({ input: target.value })}
          />
        )}
      </Framed>
      {chosen && chosen.sampling.length > 0 && (
        <SamplingFields
          names={chosen.sampling}
          text={draft.sampling}
          disabled={disabled}
          problemOf={(name) => problemOf("sampling", name)}
          onChange={(change) => onChange({ sampling: { ...draft.sampling, ...change } })}
        />
      )}
      <div className="space-y-2.5">
        {chosen?.canDefer && (
          <Tick
            id="pin-deferred"
            checked={draft.isDeferred}
            disabled={disabled}
            onChange={(isDeferred) => onChange({ isDeferred })}
          >
            Deferred: slower, at the provider’s lower price
          </Tick>
        )}
        <Tick
          id="pin-native"
          checked={draft.includeNativeResponse}
          disabled={disabled}
          onChange={(includeNativeResponse) => onChange({ includeNativeResponse })}
        >
          Store the provider’s native response too
        </Tick>
      </div>
    </>
  );
}

/** Fields that show their own errors. */
const KNOWN = new Set(["pin", "instructions", "input", "sampling"]);

function SamplingFields({
  names,
  text,
  disabled,
  problemOf,
  onChange,
}: {
  names: readonly SamplingName[];
  text: SamplingText;
  disabled: boolean;
  problemOf(name: SamplingName): string | undefined;
  onChange(change: SamplingText): void;
}) {
  const isRefused = names.some((name) => problemOf(name));
  const count = names.filter((name) => text[name]).length;
  return (
    <details open={isRefused || undefined} className="rounded-md border border-line">
      <summary className="px-3 py-2 text-sm font-medium text-muted hover:text-text">
        Sampling
        <span className="ml-1.5 font-normal">{count === 0 ? "provider defaults" : `${count} set`}</span>
      </summary>
      <div className="grid gap-4 border-t border-line p-3 sm:grid-cols-2">
        {names.map((name) => (
          <Framed
            key={name}
            id={`pin-${name}`}
            label={SAMPLING[name].label}
            hint={SAMPLING[name].hint}
            problem={problemOf(name)}
          >
            {(aria) => (
              <SamplingField
                name={name}
                aria={aria}
                value={text[name] ?? ""}
                disabled={disabled}
                onChange={(value) => onChange({ [name]: value })}
              />
            )}
          </Framed>
        ))}
      </div>
    </details>
  );
}

const UNSAID = "unsaid"; // a select cannot hold an empty value

function SamplingField({
  name,
  aria,
  value,
  disabled,
  onChange,
}: {
  name: SamplingName;
  aria: Aria;
  value: string;
  disabled: boolean;
  onChange(value: string): void;
}) {
  const { kind } = SAMPLING[name];
  if (kind === "switch")
    return (
      <Select
        value={value || UNSAID}
        disabled={disabled}
        onValueChange={(chosen) => onChange(chosen === UNSAID ? "" : chosen)}
      >
        <SelectTrigger {...aria} />
        <SelectContent>
          <SelectItem value={UNSAID}>Not sent</SelectItem>
          <SelectItem value="enabled">Enabled</SelectItem>
          <SelectItem value="disabled">Disabled</SelectItem>
        </SelectContent>
      </Select>
    );
  if (kind === "lines")
    return (
      <Textarea
        {...aria}
        value={value}
        disabled={disabled}
        className="min-h-9"
        onChange={({ target }) => onChange(target.value)}
      />
    );
  return (
    <Input
      {...aria}
      value={value}
      disabled={disabled}
      inputMode={kind === "number" ? "decimal" : undefined}
      autoComplete="off"
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

type Aria = { id: string; "aria-invalid"?: true; "aria-describedby"?: string };

function Framed({
  id,
  label,
  hint,
  problem,
  children,
}: {
  id: string;
  label: string;
  hint?: string;
  problem: string | undefined;
  children(aria: Aria): ReactNode;
}) {
  const below = problem ?? hint;
  return (
    <div className="min-w-0 space-y-1.5">
      <Label htmlFor={id}>{label}</Label>
      {children({
        id,
        ...(problem ? { "aria-invalid": true } : {}),
        ...(below ? { "aria-describedby": `${id}-below` } : {}),
      })}
      {below && (
        <p id={`${id}-below`} className={problem ? "text-xs font-medium text-bad" : "text-xs text-muted"}>
          {below}
        </p>
      )}
    </div>
  );
}

function Tick({
  id,
  checked,
  disabled,
  onChange,
  children,
}: {
  id: string;
  checked: boolean;
  disabled: boolean;
  onChange(checked: boolean): void;
  children: ReactNode;
}) {
  return (
    <div className="flex items-center gap-2">
      <Checkbox
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={(value) => onChange(value === true)}
      />
      <Label htmlFor={id} className="font-normal">
        {children}
      </Label>
    </div>
  );
}
