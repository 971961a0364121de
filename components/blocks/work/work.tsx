import {
  AudioLines,
  Box,
  Calculator,
  Clapperboard,
  FileCheck,
  Globe,
  Image,
  LetterText,
  type LucideIcon,
  Sparkles,
} from "lucide-react";
import type { ReactNode } from "react";
import { Titled } from "@/components/blocks/list/resource-table";
import type { Work } from "@/server/contract/work";

/** Icons by the first word of a capability's key. */
const GLYPHS: Record<string, LucideIcon> = {
  image: Image,
  audio: AudioLines,
  video: Clapperboard,
  model: Box,
  "3d": Box,
  text: LetterText,
  compute: Calculator,
  document: FileCheck,
  domain: Globe,
};

/** The title of a job: its subject, or a note that its content is private. Null if it has neither. */
export const workTitle = (work: Work | null) =>
  work?.isPrivate ? "Private content" : (work?.subject ?? null);

/** A thumbnail of a job's result, or the icon of its kind. */
export function WorkPreview({ work }: { work: Work }) {
  const Glyph = GLYPHS[work.capabilityKey.split(".")[0] ?? ""] ?? Sparkles;
  const { picture } = work;
  return (
    <span className="grid size-9 shrink-0 place-items-center overflow-hidden rounded-md bg-sunken text-faint">
      {picture ? (
        // biome-ignore lint/performance/noImgElement: made small by our own server, behind the reader's session
        <img
          src={`/artifacts/${picture.jobId}/${picture.artifactId}/thumbnail`}
          alt=""
          loading="lazy"
          width={36}
          height={36}
          data-thumbnail
        />
      ) : (
        <Glyph aria-hidden className="size-4" strokeWidth={1.5} />
      )}
    </span>
  );
}

/** The first cell of a row: the preview, the subject, and below it the capability and the facts that distinguish the row. */
export function WorkCell({
  work,
  otherwise,
  children,
}: {
  work: Work | null;
  /** The title of a row without a subject. */
  otherwise: string;
  children: ReactNode;
}) {
  const title = workTitle(work);
  return (
    <span className="flex min-w-0 items-center gap-3">
      {work && <WorkPreview work={work} />}
      <Titled title={title ?? otherwise}>
        {title !== null && <span>{otherwise}</span>}
        {children}
      </Titled>
    </span>
  );
}

/** The classes of a column of `WorkCell`: it gets the remaining width and truncates its text. */
export const WORK_COLUMN = "w-2/5 max-w-0";
