"use client";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import type { FieldIssue } from "@/components/data/trpc";
import { inputSchemaOf } from "@/components/playground/input/input-form";
import type { Input } from "@/components/playground/schema";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Checkbox } from "@/components/ui/checkbox";
import { cn } from "@/components/ui/class-names";
import { Label } from "@/components/ui/label";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import type { CompetitorOptions } from "@/server/contract/comparisons";
import { MOST_COMPETITORS } from "@/server/contract/enums";
import { type ComparisonDraft, competitorCount, isFull } from "./draft";
import { RecipeFields } from "./recipe-fields";

type Props = {
  projectId: string;
  capability: CapabilityDescriptor;
  options: CompetitorOptions;
  draft: ComparisonDraft;
  input: Input;
  disabled: boolean;
  /** The validation errors of competitors, by their position in the list. */
  issues: FieldIssue[];
  onChange(draft: ComparisonDraft): void;
};

/** Picks two to four competitors: models, profiles, or recipes that change fields of the request. */
export function CompetitorPicker(props: Props) {
  const { options, draft, disabled, onChange } = props;
  const full = isFull(draft) || disabled;
  const there = options.providers.filter(
    ({ available, providerPin }) => available || draft.pins.includes(providerPin),
  );
  const away = options.providers.filter((each) => !there.includes(each));
  const toggle = (pin: string) =>
    onChange({ ...draft, pins: without(draft.pins, pin) ?? [...draft.pins, pin] });
  const isProfile = (key: string, version: string) => (each: ComparisonDraft["profiles"][number]) =>
    each.profileKey === key && each.profileVersion === version;

  return (
    <Section
      title="Competitors"
      hint={
        <span role="status">
          {competitorCount(draft)} selected, 2 to {MOST_COMPETITORS} allowed
        </span>
      }
      bodyClassName="space-y-5"
    >
      {options.providers.length > 0 && (
        <Group title="Models">
          {there.map((each) => (
            <Row
              key={each.providerPin}
              id={`pin-${each.providerPin}`}
              checked={draft.pins.includes(each.providerPin)}
              disabled={full && !draft.pins.includes(each.providerPin)}
              locked={disabled}
              title={each.title}
              code={each.providerPin}
              hint={each.reason}
              onToggle={() => toggle(each.providerPin)}
            />
          ))}
          {there.length === 0 && (
            <p className="text-sm text-muted">No models are available. Connect a provider account first.</p>
          )}
          {away.length > 0 && (
            <details>
              <summary className="py-1 text-xs font-medium text-muted hover:text-text">
                {away.length === 1 ? "1 unavailable model" : `${away.length} unavailable models`}
              </summary>
              <ul className="mt-1 space-y-1.5 border-l border-line pl-3 text-xs text-muted">
                {away.map(({ providerPin, title, reason }) => (
                  <li key={providerPin} className="[overflow-wrap:anywhere]">
                    <span className="font-medium">{title}</span> <code>{providerPin}</code>
                    {reason && <span className="block">{reason}</span>}
                  </li>
                ))}
              </ul>
            </details>
          )}
        </Group>
      )}
      {options.profiles.length > 0 && (
        <Group title="Profiles" hint="A preset; the model is chosen automatically.">
          {options.profiles.map(({ profileKey, profileVersion, title, description }) => {
            const is = isProfile(profileKey, profileVersion);
            const isChosen = draft.profiles.some(is);
            return (
              <Row
                key={`${profileKey} ${profileVersion}`}
                id={`profile-${profileKey}-${profileVersion}`}
                checked={isChosen}
                disabled={full && !isChosen}
                locked={disabled}
                title={title}
                code={`${profileKey} ${profileVersion}`}
                hint={description}
                onToggle={() =>
                  onChange({
                    ...draft,
                    profiles: isChosen
                      ? draft.profiles.filter((each) => !is(each))
                      : [...draft.profiles, { profileKey, profileVersion }],
                  })
                }
              />
            );
          })}
        </Group>
      )}
      {options.recipes.supported && (
        <Group
          title="Recipes"
          hint="The same request with some fields changed; the model is chosen automatically."
        >
          <Recipes {...props} full={full} />
        </Group>
      )}
    </Section>
  );
}

function Recipes({
  projectId,
  capability,
  options,
  draft,
  input,
  disabled,
  issues,
  full,
  onChange,
}: Props & { full: boolean }) {
  const before = draft.pins.length + draft.profiles.length;
  const set = (recipes: ComparisonDraft["recipes"]) => onChange({ ...draft, recipes });
  return (
    <>
      {draft.recipes.map((recipe, at) => (
        <RecipeFields
          key={recipe.id}
          projectId={projectId}
          schema={inputSchemaOf(capability)}
          fields={options.recipes.inputFields}
          recipe={recipe}
          place={at}
          base={input}
          disabled={disabled}
          issues={issues
            .filter(({ loc }) => loc[1] === before + at)
            .map((issue) => ({ ...issue, loc: issue.loc.slice(issue.loc[2] === "inputOverrides" ? 3 : 2) }))}
          onChange={(change) =>
            set(draft.recipes.map((each) => (each === recipe ? { ...each, ...change } : each)))
          }
          onRemove={() => set(draft.recipes.filter((each) => each !== recipe))}
        />
      ))}
      <Button
        size="sm"
        disabled={full}
        onClick={() => set([...draft.recipes, { id: crypto.randomUUID(), label: "", overrides: [] }])}
      >
        <Plus aria-hidden />
        Add recipe
      </Button>
    </>
  );
}

/** The list without this item; null if the list does not contain it. */
const without = (list: string[], one: string) =>
  list.includes(one) ? list.filter((each) => each !== one) : null;

function Group({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <fieldset className="min-w-0">
      <legend className="text-sm font-semibold">{title}</legend>
      {hint && <p className="mt-0.5 text-xs text-muted">{hint}</p>}
      <div className="mt-2 space-y-2">{children}</div>
    </fieldset>
  );
}

type RowProps = {
  id: string;
  checked: boolean;
  disabled: boolean;
  locked: boolean;
  title: string;
  code: string;
  hint: string | null;
  onToggle(): void;
};

function Row({ id, checked, disabled, locked, title, code, hint, onToggle }: RowProps) {
  return (
    <div className="flex items-start gap-2.5">
      <Checkbox
        id={id}
        className="mt-0.5"
        checked={checked}
        disabled={disabled || locked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onCheckedChange={onToggle}
      />
      <div className="min-w-0">
        <Label htmlFor={id} className={cn("font-normal", disabled && "text-muted")}>
          {title} <code className="text-xs text-muted [overflow-wrap:anywhere]">{code}</code>
        </Label>
        {hint && (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
