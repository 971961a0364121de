import { formatDuration } from "@/components/time/format";
import { Moment } from "@/components/time/moment";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { PinnedRecord } from "@/server/contract/pinned";
import { outcomeOf, placeOf, type Span, spansOf } from "./waterfall";

/** A record's timing, as bars and as a table. */
export function TimingCard({ record }: { record: PinnedRecord }) {
  const spans = spansOf(record);
  return (
    <Tabs defaultValue="bars">
      <Card aria-labelledby="timing-title">
        <CardHeader
          title="Timing"
          id="timing-title"
          actions={
            <TabsList aria-label="Timing view">
              <TabsTrigger value="bars">Bars</TabsTrigger>
              <TabsTrigger value="table">Table</TabsTrigger>
            </TabsList>
          }
        />
        <TabsContent value="bars">
          <CardBody>
            <Bars spans={spans} />
          </CardBody>
        </TabsContent>
        <TabsContent value="table">
          <SpanTable spans={spans} />
        </TabsContent>
      </Card>
    </Tabs>
  );
}

const FILL: Record<Span["kind"], string> = {
  wait: "bg-series-rest/45",
  submission: "bg-series-1",
  provider: "bg-series-6",
  total: "bg-text/75",
};
const fillOf = ({ kind, wentWell }: Span) => (wentWell === false ? "bg-series-5" : FILL[kind]);

/** Every line states in words what its bar shows. */
function Bars({ spans }: { spans: Span[] }) {
  return (
    <ol aria-label="Timing" className="grid gap-y-2.5">
      {spans.map((span) => {
        const { left, width } = placeOf(span, spans);
        return (
          <li
            key={span.key}
            className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 text-xs sm:grid-cols-[12rem_minmax(0,1fr)_4.5rem]"
          >
            <span className="min-w-0">
              <span className={cn(span.kind === "total" && "font-semibold")}>{span.name}</span>
              {span.outcome && (
                <span className={cn("block text-muted", span.wentWell === false && "text-bad")}>
                  {span.outcome}
                </span>
              )}
            </span>
            <span
              aria-hidden
              className="relative h-3.5 rounded-sm bg-sunken max-sm:order-last max-sm:col-span-2"
            >
              <span
                className={cn("absolute inset-y-0 min-w-0.5 rounded-sm", fillOf(span))}
                style={{ left: `min(${left}%, 100% - 2px)`, width: `${width}%` }}
              />
            </span>
            <span className="text-right whitespace-nowrap tabular-nums">
              {formatDuration(span.toMs - span.fromMs)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function SpanTable({ spans }: { spans: Span[] }) {
  return (
    <Table>
      <caption className="sr-only">Timing, in order</caption>
      <thead>
        <tr>
          <TableHead>Step</TableHead>
          <TableHead className="text-right">Start</TableHead>
          <TableHead className="text-right">Duration</TableHead>
          <TableHead>Outcome</TableHead>
        </tr>
      </thead>
      <tbody>
        {spans.map((span) => (
          <TableRow key={span.key}>
            <TableCell>{span.name}</TableCell>
            <TableCell className="text-right whitespace-nowrap">{formatDuration(span.fromMs)}</TableCell>
            <TableCell className="text-right whitespace-nowrap">
              {formatDuration(span.toMs - span.fromMs)}
            </TableCell>
            <TableCell className="text-xs text-muted">{span.outcome}</TableCell>
          </TableRow>
        ))}
      </tbody>
    </Table>
  );
}

/** Every HTTP submission, with its recorded start and end. */
export function AttemptsCard({ record }: { record: PinnedRecord }) {
  return (
    <Card aria-labelledby="attempts-title" className="overflow-hidden">
      <CardHeader
        title="Attempts"
        id="attempts-title"
        hint={`${count(record.providerSubmissions, "submission")}, ${count(record.capacityRejections, "capacity rejection")}`}
      />
      {record.attempts.length === 0 ? (
        <p className="p-4 text-sm text-muted">Nothing was sent.</p>
      ) : (
        <ol className="divide-y divide-line">
          {record.attempts.map((attempt) => (
            <li key={attempt.number} className="flex flex-wrap gap-x-4 gap-y-0.5 px-4 py-2.5 text-sm">
              <span className="w-4 text-muted tabular-nums">{attempt.number}.</span>
              <span className="min-w-0 flex-1 basis-52 [overflow-wrap:anywhere]">{outcomeOf(attempt)}</span>
              <span className="text-xs text-muted max-sm:pl-8">
                <Moment at={attempt.startedAt} />
                {attempt.endedAt &&
                  `, ${formatDuration(Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt))}`}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
