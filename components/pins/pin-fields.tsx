"use client";
import { CheckField, ChoiceField, LinesField, TextField } from "@/components/blocks/form/fields";
import { useProblem } from "@/components/blocks/form/form";
import { toOptions } from "@/components/blocks/list/filter-bar";
import Link from "@/components/ui/link";
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

/** An empty form with the first pin that can run now, or else with the first pin. */
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

/** The form as a request. Empty fields are omitted, except the input. */
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

type Props = {
  projectId: string;
  choices: readonly PinChoice[];
  draft: PinDraft;
  disabled: boolean;
  onChange(change: Partial<PinDraft>): void;
};

/** The fields of a pinned request. */
export function PinFields({ projectId, choices, draft, disabled, onChange }: Props) {
  const places = [...new Map(choices.map((choice) => [placeOf(choice), choice])).values()];
  const models = choices.filter((choice) => placeOf(choice) === draft.place);
  const chosen = chosenOf(draft, choices);
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField
          name="provider"
          label="Provider and API"
          value={draft.place}
          disabled={disabled}
          onValueChange={(place) =>
            onChange({ place, model: choices.find((choice) => placeOf(choice) === place)?.pin.model ?? "" })
          }
          options={places.map((choice) => ({
            value: placeOf(choice),
            label: `${choice.providerTitle} · ${choice.pin.api}${choice.isConnected ? "" : " (not connected)"}`,
          }))}
        />
        <ChoiceField
          name="model"
          label="Model"
          value={draft.model}
          disabled={disabled}
          onValueChange={(model) => onChange({ model })}
          options={toOptions(models.map(({ pin }) => pin.model))}
        />
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
      <LinesField
        name="instructions"
        label="Instructions"
        value={draft.instructions}
        disabled={disabled}
        placeholder="Not sent if empty"
        className="min-h-16"
        onChange={({ target }) => onChange({ instructions: target.value })}
      />
      <LinesField
        name="input"
        label="Input"
        value={draft.input}
        disabled={disabled}
        required
        className="min-h-28"
        onChange={({ target }) => onChange({ input: target.value })}
      />
      {chosen && chosen.sampling.length > 0 && (
        <SamplingFields
          names={chosen.sampling}
          text={draft.sampling}
          disabled={disabled}
          onChange={(change) => onChange({ sampling: { ...draft.sampling, ...change } })}
        />
      )}
      <div className="space-y-2.5">
        {chosen?.canDefer && (
          <CheckField
            name="processing"
            label="Deferred: slower, at the provider’s lower price"
            checked={draft.isDeferred}
            disabled={disabled}
            onChange={(isDeferred) => onChange({ isDeferred })}
          />
        )}
        <CheckField
          name="includeNativeResponse"
          label="Store the provider’s native response too"
          checked={draft.includeNativeResponse}
          disabled={disabled}
          onChange={(includeNativeResponse) => onChange({ includeNativeResponse })}
        />
      </div>
    </>
  );
}

type SamplingProps = {
  names: readonly SamplingName[];
  text: SamplingText;
  disabled: boolean;
  onChange(change: SamplingText): void;
};

function SamplingFields({ names, text, disabled, onChange }: SamplingProps) {
  const isRefused = useProblem("sampling") !== undefined;
  const count = names.filter((name) => text[name]).length;
  return (
    <details open={isRefused || undefined} className="rounded-md border border-line">
      <summary className="px-3 py-2 text-sm font-medium text-muted hover:text-text">
        Sampling
        <span className="ml-1.5 font-normal">{count === 0 ? "provider defaults" : `${count} set`}</span>
      </summary>
      <div className="grid gap-4 border-t border-line p-3 sm:grid-cols-2">
        {names.map((name) => (
          <SamplingField
            key={name}
            name={name}
            value={text[name] ?? ""}
            disabled={disabled}
            onValue={(value) => onChange({ [name]: value })}
          />
        ))}
      </div>
    </details>
  );
}

const UNSAID = "unsaid"; // a select cannot hold an empty value
const SWITCH = [
  { value: UNSAID, label: "Not sent" },
  { value: "enabled", label: "Enabled" },
  { value: "disabled", label: "Disabled" },
];

function SamplingField({
  onValue,
  ...field
}: {
  name: SamplingName;
  value: string;
  disabled: boolean;
  onValue(value: string): void;
}) {
  const { kind, label, hint } = SAMPLING[field.name];
  const onChange = ({ target }: { target: { value: string } }) => onValue(target.value);
  if (kind === "switch")
    return (
      <ChoiceField
        {...field}
        label={label}
        hint={hint}
        value={field.value || UNSAID}
        onValueChange={(chosen) => onValue(chosen === UNSAID ? "" : chosen)}
        options={SWITCH}
      />
    );
  if (kind === "lines")
    return <LinesField {...field} label={label} hint={hint} className="min-h-9" onChange={onChange} />;
  return (
    <TextField
      {...field}
      label={label}
      hint={hint}
      inputMode={kind === "number" ? "decimal" : undefined}
      onChange={onChange}
    />
  );
}
