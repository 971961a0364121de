"use client";
import { type ComponentProps, useId, useState } from "react";
import { ChecksField } from "./fields";

export type Preset<Name extends string> = { label: string; hint: string; names: readonly Name[] };

/** Selects some of many names: a common set, or the reader's own, which starts with the set chosen before. */
export function PresetField<Name extends string>({
  label,
  presets,
  own,
  onReady,
  ...checks
}: {
  presets: readonly Preset<Name>[];
  /** The label of the choice that shows every name. */
  own: string;
  /** False while the reader selects names and none is selected. */
  onReady(isReady: boolean): void;
} & Omit<ComponentProps<typeof ChecksField<Name>>, "onChosen">) {
  const id = useId();
  const { name, initial = [] } = checks;
  const known = presets.findIndex(({ names }) => initial.toSorted().join() === names.toSorted().join());
  const [at, setAt] = useState(known);
  const [begun, setBegun] = useState(initial);
  const chosen = presets[at];
  const options = [...presets, { label: own, hint: "" }];
  return (
    <fieldset className="space-y-2">
      <legend className="text-sm font-medium">{label}</legend>
      {options.map((option, place) => {
        const isChosen = option.label === (chosen?.label ?? own);
        return (
          <label key={option.label} className="flex gap-2 text-sm">
            <input
              type="radio"
              name={id}
              checked={isChosen}
              onChange={() => {
                const next = chosen?.names ?? begun;
                setBegun(next);
                setAt(place < presets.length ? place : -1);
                onReady(place < presets.length || next.length > 0);
              }}
              className="mt-0.5 size-4 accent-primary"
            />
            <span>
              {option.label}
              {option.hint && <span className="block text-xs text-muted">{option.hint}</span>}
            </span>
          </label>
        );
      })}
      {chosen ? (
        chosen.names.map((each) => <input key={each} type="hidden" name={name} value={each} />)
      ) : (
        <ChecksField
          {...checks}
          label={own}
          isNamed={false}
          initial={begun}
          onChosen={(count) => onReady(count > 0)}
        />
      )}
    </fieldset>
  );
}
