import { formatDuration } from "@/components/time/format";
import { cn } from "@/components/ui/class-names";

/** One line of a timing, in milliseconds since its start. */
export type Span = {
  key: string;
  name: string;
  kind: "wait" | "work" | "provider" | "total";
  fromMs: number;
  toMs: number;
  /** The outcome in words. */
  outcome?: string;
  /** Absent if the outcome is neither good nor bad. */
  wentWell?: boolean;
};

const FILL: Record<Span["kind"], string> = {
  wait: "bg-series-rest/45",
  work: "bg-series-1",
  provider: "bg-series-6",
  total: "bg-text/75",
};
const fillOf = ({ kind, wentWell }: Span) => (wentWell === false ? "bg-series-5" : FILL[kind]);
const LINE =
  "grid grid-cols-[minmax(0,1fr)_auto_auto] items-center gap-x-3 gap-y-1 text-xs sm:grid-cols-[11rem_minmax(0,1fr)_5.5rem_4.5rem]";
const TICKS = [0, 0.5, 1];

/** Bars on one time axis. Every line states in words what its bar shows. */
export function Waterfall({ label, spans }: { label: string; spans: readonly Span[] }) {
  const wholeMs = lengthOf(spans);
  return (
    <div>
      <div aria-hidden className={cn(LINE, "mb-1.5 text-2xs text-faint max-sm:hidden")}>
        <span className="col-start-2 flex justify-between tabular-nums">
          {TICKS.map((part) => (
            <span key={part} suppressHydrationWarning>
              {part === 0 ? "0" : formatDuration(wholeMs * part)}
            </span>
          ))}
        </span>
      </div>
      <ol aria-label={label} className="grid gap-y-2">
        {spans.map((span) => (
          <Line key={span.key} span={span} wholeMs={wholeMs} />
        ))}
      </ol>
    </div>
  );
}

function Line({ span, wholeMs }: { span: Span; wholeMs: number }) {
  const { name, kind, outcome, wentWell, fromMs, toMs } = span;
  const { left, width } = spanPosition(span, wholeMs);
  return (
    <li className={LINE}>
      <span className="min-w-0">
        <span className={cn(kind === "total" && "font-semibold")}>{name}</span>
        {outcome && (
          <span className={cn("block text-muted", wentWell === false && "text-bad")}>{outcome}</span>
        )}
      </span>
      <span
        aria-hidden
        className="meter relative h-3.5 rounded-sm bg-sunken max-sm:order-last max-sm:col-span-3"
      >
        <span
          className={cn("absolute inset-y-0 min-w-0.5 rounded-sm", fillOf(span))}
          style={{ left: `min(${left}%, 100% - 2px)`, width: `${width}%` }}
          suppressHydrationWarning
        />
      </span>
      <span className="text-right whitespace-nowrap text-muted tabular-nums">
        {fromMs > 0 && `after ${formatDuration(fromMs)}`}
      </span>
      <span className="text-right whitespace-nowrap tabular-nums" suppressHydrationWarning>
        {formatDuration(toMs - fromMs)}
      </span>
    </li>
  );
}

const lengthOf = (spans: readonly Span[]) => Math.max(1, ...spans.map(({ toMs }) => toMs));

/** A span's start and length, in percent of the axis. */
export function spanPosition(
  { fromMs, toMs }: Pick<Span, "fromMs" | "toMs">,
  wholeMs: number,
): { left: number; width: number } {
  return { left: (fromMs / wholeMs) * 100, width: ((toMs - fromMs) / wholeMs) * 100 };
}
