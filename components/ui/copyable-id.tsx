import { cn } from "./class-names";
import { CopyButton } from "./copy-button";

/** An id in monospace with a button that copies it in full; shown in full or shortened in the middle. */
export function CopyableId({
  id,
  what,
  short = false,
  className,
}: {
  id: string;
  /** The kind of id, for the button's label: "job id". */
  what: string;
  short?: boolean;
  className?: string;
}) {
  return (
    <span className={cn("inline-flex max-w-full min-w-0 items-center gap-0.5", className)}>
      <code className="min-w-0 truncate text-xs" title={short ? id : undefined}>
        {short ? shortId(id) : id}
      </code>
      <CopyButton text={id} what={what} className="-my-1" />
    </span>
  );
}

/**
 * A shortened id, such as `wfr_01k9…7f3q2x` or `sha256:fc03…a1b2c3`: the prefix shows the kind, the end distinguishes two
 * ids.
 */
export function shortId(id: string): string {
  const kind = /^[a-z\d]{1,12}[_:]/.exec(id)?.[0].length ?? 0;
  return id.length <= 20 ? id : `${id.slice(0, kind + 4)}…${id.slice(-6)}`;
}
