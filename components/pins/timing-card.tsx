import { Waterfall } from "@/components/blocks/chart/waterfall";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import type { PinnedRecord } from "@/server/contract/pinned-records";
import { spansOf } from "./spans";

/** A record's timing, with every HTTP submission, as bars on one time axis. */
export function TimingCard({ record }: { record: PinnedRecord }) {
  return (
    <Card aria-labelledby="timing-title">
      <CardHeader
        title="Timing"
        id="timing-title"
        hint={`${count(record.providerSubmissions, "submission")}, ${count(record.capacityRejections, "capacity rejection")}`}
      />
      <CardBody>
        <Waterfall label="Timing" spans={spansOf(record)} />
      </CardBody>
    </Card>
  );
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
