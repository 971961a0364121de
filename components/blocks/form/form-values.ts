import { requiredAmount, sentAmount } from "@/components/ui/amount";

/** The values of a submitted form, by the names of its fields. */
export type FormValues = ReturnType<typeof readForm>;

export function readForm(form: HTMLFormElement) {
  const data = new FormData(form);
  /** Trimmed text; empty if the form has no such field. */
  const text = (name: string) => String(data.get(name) ?? "").trim();
  return {
    text,
    /** Untrimmed text, such as a password. */
    raw: (name: string) => String(data.get(name) ?? ""),
    /** Trimmed text; undefined if it is empty. */
    given: (name: string) => text(name) || undefined,
    has: (name: string) => data.has(name),
    /** The checked options, in the order in which they are offered. */
    chosen: <Name extends string>(name: string, offered: readonly Name[]) => {
      const ticked = new Set(data.getAll(name));
      return offered.filter((each) => ticked.has(each));
    },
    /** One of a few choices; the first if the value is none of them. */
    oneOf: <Name extends string>(name: string, [first, ...others]: readonly [Name, ...Name[]]): Name =>
      others.find((each) => each === data.get(name)) ?? first,
    /** An amount in micros; null if it is empty. */
    micros: (name: string) => sentAmount(data, name),
    requiredMicros: (name: string) => requiredAmount(data, name),
  };
}
