/** Formats dollars with the decimals that small amounts need. */
export function formatUsd(usd: number): string {
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : usd.toFixed(6).replace(/0{1,4}$/, "")}`;
}
