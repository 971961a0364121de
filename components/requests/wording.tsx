import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Section } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";
import { spaced } from "@/components/ui/wording";
import type { RequestRevision } from "@/server/contract/requests";

/** Members that are shown separately, and the two that mean nothing to a reader. */
const PLACED = ["summary", "need", "acceptanceCases", "schemaVersion", "projectId"];
const SHORT_NEED = 1_200;

type Content = RequestRevision["content"];

export const requestTitle = (content: Content) => textOf(content.summary);
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** A request's current revision. */
export function CurrentWording({ revision }: { revision: RequestRevision }) {
  return (
    <Section title="Current revision" hint={`Revision ${revision.number}`}>
      <Wording content={revision.content} />
    </Section>
  );
}

/** One revision of a request: the need as text, its cases and other members folded. */
export function Wording({ content }: { content: Content }) {
  const cases = Array.isArray(content.acceptanceCases) ? content.acceptanceCases : [];
  const others = Object.entries(content).filter(([name]) => !PLACED.includes(name));
  return (
    <div className="space-y-3">
      <Need text={textOf(content.need)} />
      {cases.length > 0 && (
        <Folded title={cases.length === 1 ? "1 acceptance case" : `${cases.length} acceptance cases`}>
          <ol className="space-y-3">
            {cases.map((each, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a frozen list; a case is named by its index
              <li key={place}>
                <JsonView value={each} what={`Acceptance case ${place + 1}`} />
              </li>
            ))}
          </ol>
        </Folded>
      )}
      {others.map(([name, value]) => (
        <Folded key={name} title={spaced(name)}>
          <JsonView value={value} what={spaced(name)} />
        </Folded>
      ))}
    </div>
  );
}

function Need({ text }: { text: string }) {
  const words = "text-base whitespace-pre-wrap [overflow-wrap:anywhere]";
  if (text.length <= SHORT_NEED)
    return (
      <p dir="auto" className={words}>
        {text}
      </p>
    );
  const cut = text.slice(0, SHORT_NEED);
  const begin = cut.slice(0, cut.lastIndexOf(" ") + 1 || SHORT_NEED);
  return (
    <>
      <p dir="auto" className={words}>
        {begin}…
      </p>
      <Folded title={`Show full need (${text.length.toLocaleString("en-US")} characters)`}>
        <p dir="auto" className={words}>
          {text.slice(begin.length)}
        </p>
      </Folded>
    </>
  );
}

/** Optional content, folded behind its title. */
export function Folded({
  title,
  isOpen,
  children,
}: {
  title: string;
  isOpen?: boolean;
  children: ReactNode;
}) {
  return (
    <details open={isOpen || undefined} className="group rounded-md border border-line">
      <summary className="flex min-h-9 cursor-pointer list-none items-center gap-1.5 rounded-md px-3 py-1.5 text-sm font-medium [overflow-wrap:anywhere] hover:bg-hover [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 shrink-0 text-muted group-open:rotate-90" />
        {title}
      </summary>
      <div className="border-t border-line p-3">{children}</div>
    </details>
  );
}
