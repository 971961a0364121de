import Link from "@/components/ui/link";

/** A few views of one thing side by side, each with its own URL. */
export function LinkChoice({
  label,
  options,
}: {
  label: string;
  options: {
    name: string;
    href: string;
    current: boolean;
    /** Overrides the navigation. */
    onChoose?: () => void;
  }[];
}) {
  return (
    <nav
      aria-label={label}
      className="inline-flex flex-wrap items-center gap-0.5 rounded-md bg-sunken p-0.5 ring-1 ring-line ring-inset"
    >
      {options.map(({ name, href, onChoose, current }) => (
        <Link
          key={name}
          href={href}
          onNavigate={(event) => {
            if (!onChoose) return;
            event.preventDefault();
            onChoose();
          }}
          aria-current={current ? "true" : undefined}
          className="flex h-6 items-center rounded px-2.5 text-xs font-medium text-muted transition-colors hover:text-text aria-[current]:bg-raised aria-[current]:text-text aria-[current]:shadow-card aria-[current]:ring-1 aria-[current]:ring-line"
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
