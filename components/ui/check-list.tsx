import { Fragment, useId } from "react";
import { Checkbox } from "./checkbox";
import { cn } from "./class-names";
import { Label } from "./label";

/** Checkboxes in two columns if there is room, submitted with their form as `name`. `words` gives display names. */
export function CheckList<Name extends string>({
  name: list,
  names,
  words,
  chosen,
  onChange,
}: {
  name: string;
  names: readonly Name[];
  words?: Readonly<Record<Name, string>>;
  chosen: ReadonlySet<Name>;
  onChange: (chosen: Set<Name>) => void;
}) {
  const id = useId();
  function choose(name: Name, isChosen: boolean) {
    const after = new Set(chosen);
    if (isChosen) after.add(name);
    else after.delete(name);
    onChange(after);
  }
  return (
    <div className="mt-2 grid gap-x-4 gap-y-2 sm:grid-cols-2">
      {names.map((name) => (
        <div key={name} className="flex items-center gap-2">
          <Checkbox
            id={`${id}-${name}`}
            name={list}
            value={name}
            checked={chosen.has(name)}
            onCheckedChange={(checked) => choose(name, checked === true)}
          />
          <Label
            htmlFor={`${id}-${name}`}
            className={cn("min-w-0 font-normal [overflow-wrap:anywhere]", !words && "font-mono text-xs")}
          >
            {words ? words[name] : <Breakable name={name} />}
          </Label>
        </div>
      ))}
    </div>
  );
}

/** A name that may wrap after a dot or an underscore. */
function Breakable({ name }: { name: string }) {
  return name.split(/(?<=[._])/).map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name stay where they are
    <Fragment key={place}>
      {place > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
