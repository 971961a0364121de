/** The colours of the series by their place; any further series has the colour of the rest. */
const FILLS = [
  "fill-series-1",
  "fill-series-2",
  "fill-series-3",
  "fill-series-4",
  "fill-series-5",
  "fill-series-6",
] as const;
export const MOST_SERIES = FILLS.length;
const REST = "fill-series-rest";
const fillOf = (place: number) => FILLS[place] ?? REST;

export type Series = { key: string; name: string; values: number[] };

const HEIGHT = 200;
/** The width of one day; the chart is stretched to the available width. */
const STEP = 10;

type Props = {
  days: string[];
  series: Series[];
  /** Describes the chart for screen readers. */
  label: string;
  format: (value: number) => string;
};

/** Stacked bars, one per day. Screen readers get a label here and the figures in the table. */
export function StackedBars({ days, series, label, format }: Props) {
  const totals = days.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = Math.max(...totals, 0);
  const top = niceTop(most);
  return (
    <figure>
      <div className="flex gap-2">
        <div
          aria-hidden
          className="flex h-[200px] w-14 shrink-0 flex-col justify-between text-right text-2xs text-faint tabular-nums"
        >
          <span className="-translate-y-1/2">{most > 0 && format(top)}</span>
          <span>{most > 0 && format(top / 2)}</span>
          <span className="translate-y-1/2">{format(0)}</span>
        </div>
        <svg
          role="img"
          aria-label={label}
          viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-[200px] min-w-0 flex-1"
        >
          {[0, 0.5, 1].map((part) => (
            <line
              key={part}
              x1={0}
              x2={days.length * STEP}
              y1={HEIGHT * part}
              y2={HEIGHT * part}
              vectorEffect="non-scaling-stroke"
              className="stroke-line-soft"
            />
          ))}
          {days.map((day, at) => (
            <Bar key={day} at={at} top={top} series={series}>
              {`${day}: ${format(totals[at] ?? 0)}`}
            </Bar>
          ))}
        </svg>
      </div>
      <div aria-hidden className="mt-1.5 flex justify-between pl-16 text-2xs text-faint tabular-nums">
        <span>{shortDay(days[0])}</span>
        <span className="max-sm:hidden">{shortDay(days[Math.floor(days.length / 2)])}</span>
        <span>{shortDay(days.at(-1))}</span>
      </div>
      <figcaption className="mt-3">
        <ul
          aria-label="Legend"
          className="flex flex-wrap gap-x-4 gap-y-1 pl-16 text-xs text-muted max-sm:pl-0"
        >
          {series.map(({ key, name, values }, place) => (
            <li key={key} className="flex min-w-0 items-center gap-1.5">
              <svg aria-hidden viewBox="0 0 10 10" className="size-2.5 shrink-0">
                <rect width={10} height={10} rx={2} className={fillOf(place)} />
              </svg>
              <span className="truncate">{name}</span>
              <span className="text-text tabular-nums">
                {format(values.reduce((sum, each) => sum + each, 0))}
              </span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

function Bar({ at, top, series, children }: { at: number; top: number; series: Series[]; children: string }) {
  let base = HEIGHT;
  return (
    <g>
      <title>{children}</title>
      <rect x={at * STEP} y={0} width={STEP} height={HEIGHT} className="fill-transparent hover:fill-hover" />
      {series.map(({ key, values }, place) => {
        const height = ((values[at] ?? 0) / top) * HEIGHT;
        if (height === 0) return null;
        base -= height;
        return (
          <rect
            key={key}
            x={at * STEP + STEP * 0.14}
            y={base}
            width={STEP * 0.72}
            height={height}
            vectorEffect="non-scaling-stroke"
            className={`${fillOf(place)} pointer-events-none stroke-surface opacity-85`}
          />
        );
      })}
    </g>
  );
}

/** A day of UTC as "Oct 26". */
const shortDay = (day: string | undefined) =>
  day && new Date(day).toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });

/** The smallest of 2, 4, 10, 20, 40, 100 … that is at least the value. Its half is a whole number for the axis. */
export function niceTop(value: number): number {
  const least = Math.max(value, 2);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 4, 10].map((step) => step * power).find((step) => step >= least) ?? least;
}
