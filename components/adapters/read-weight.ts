/** The strength as typed: null when empty, undefined when it is not a number from 0 to 2. */
export function readWeight(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const weight = Number(text);
  return Number.isFinite(weight) && weight >= 0 && weight <= 2 ? weight : undefined;
}
