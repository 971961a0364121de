import { Plug } from "lucide-react";
import { Badge } from "@/components/ui/badge";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";

export const MODE_LABEL: Record<CapabilityDescriptor["executionModes"][number], string> = {
  invoke_sync: "Synchronous",
  invoke_stream: "Streaming",
  job_async: "Durable job",
};

export const FAMILY_LABEL: Record<string, string> = {
  text: "Text",
  image: "Images",
  audio: "Audio",
  video: "Video",
  mesh: "3D",
  geometry: "3D",
  domain: "Domains",
  math: "Calculation",
};

/** Text in which backticks mark code. */
export function Described({ text }: { text: string }) {
  return text.split("`").map((part, place) =>
    place % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
      <code key={place} className="text-[0.9em]">
        {part}
      </code>
    ),
  );
}

export const NeedsConnection = () => (
  <Badge tone="warn">
    <Plug aria-hidden />
    Needs a connection
  </Badge>
);
