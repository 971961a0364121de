import { Waterfall } from "@/components/blocks/chart/waterfall";
import { Section } from "@/components/ui/card";
import type { PinnedRecord } from "@/server/contract/pinned-records";
import { spansOf } from "./spans";

/** A record's timing, with every HTTP submission, as bars on one time axis. */
export function TimingCard({ record }: { record: PinnedRecord }) {
  return (
    <Section
      title="Timing"
      id="timing-title"
      hint={`${count(record.providerSubmissions, "submission")}, ${count(record.capacityRejections, "capacity rejection")}`}
    >
      <Waterfall label="Timing" spans={spansOf(record)} />
    </Section>
  );
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
