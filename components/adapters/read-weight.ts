/** The strength as it was written: a number, none, or nonsense. */
export function readWeight(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const weight = Number(text);
  return Number.isFinite(weight) && weight >= 0 && weight <= 2 ? weight : undefined;
}
