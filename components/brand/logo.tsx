import { cn } from "@/components/ui/class-names";

/** A capstan from the side: head, barrel and base, with one of the bars that turn it. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden className={cn("size-6 shrink-0", className)}>
      <path d="M2.5 9.25H29.5" stroke="var(--brass)" strokeWidth="2.5" strokeLinecap="round" />
      <g fill="currentColor">
        <rect x="7.5" y="4.5" width="17" height="7.5" rx="2.25" />
        <path d="M10 13.25H22C19.2 16.6 19.2 20 22.4 23.25H9.6C12.8 20 12.8 16.6 10 13.25Z" />
        <rect x="5" y="24.5" width="22" height="4" rx="1.75" />
      </g>
    </svg>
  );
}

export function Logo({ className }: { className?: string }) {
  return (
    <span className={cn("inline-flex items-center gap-2 text-text", className)}>
      <Mark className="text-primary" />
      <span className="text-lg font-semibold tracking-tight">Capstan</span>
    </span>
  );
}
