import type { ReactNode } from "react";
import { Mark } from "@/components/brand/logo";

type Part = { part: string; pages: { address: string; title: string }[] };

/** A page of the documentation: the list of pages and the search beside it. Works without scripts. */
export function DocsPage({
  contents,
  current,
  q,
  children,
}: {
  contents: Part[];
  /** The address of the page. */
  current?: string;
  q?: string;
  children: ReactNode;
}) {
  return (
    <div className="mx-auto grid max-w-6xl gap-8 px-4 py-8 lg:grid-cols-[15rem_minmax(0,1fr)]">
      <div className="text-sm lg:sticky lg:top-8 lg:max-h-[calc(100dvh-4rem)] lg:self-start lg:overflow-y-auto">
        <header>
          <a href="/" className="mb-4 flex items-center gap-2 font-semibold">
            <Mark className="size-6 text-primary" /> Capstan
          </a>
        </header>
        <search>
          <form method="get" action="/docs/search" className="mb-4">
            <label className="sr-only" htmlFor="docs-q">
              Search the documentation
            </label>
            <input
              id="docs-q"
              name="q"
              type="search"
              defaultValue={q}
              maxLength={200}
              placeholder="Search"
              className="h-9 w-full rounded-md border border-line-strong bg-surface px-3 text-base"
            />
          </form>
        </search>
        <nav aria-label="Documentation">
          <a className="block py-1 font-semibold" href="/docs/index">
            Overview
          </a>
          <a className="block py-1 font-semibold" href="/docs">
            API reference
          </a>
          {contents.map(({ part, pages }) => (
            <details
              key={part}
              open={current === undefined || pages.some(({ address }) => address === current)}
              className="mt-2"
            >
              <summary className="cursor-pointer py-1 font-semibold capitalize">{part}</summary>
              <ul>
                {pages.map(({ address, title }) => (
                  <li key={address}>
                    <a
                      className="block py-1 text-muted hover:text-text aria-[current=page]:text-text"
                      href={address}
                      aria-current={address === current ? "page" : undefined}
                    >
                      {title}
                    </a>
                  </li>
                ))}
              </ul>
            </details>
          ))}
        </nav>
      </div>
      <main id="main" className="min-w-0">
        {children}
      </main>
    </div>
  );
}

/** How the elements of a written page look. */
export const WRITTEN = [
  "text-base leading-relaxed break-words",
  "[&_h1]:text-2xl [&_h1]:font-semibold",
  "[&_h2]:mt-8 [&_h2]:scroll-mt-6 [&_h2]:text-lg [&_h2]:font-semibold",
  "[&_h3]:mt-6 [&_h3]:scroll-mt-6 [&_h3]:font-semibold",
  "[&_p]:mt-3 [&_ul]:mt-3 [&_ul]:list-disc [&_ul]:pl-5 [&_ol]:mt-3 [&_ol]:list-decimal [&_ol]:pl-5 [&_li]:mt-1",
  "[&_a]:text-link [&_a]:underline",
  "[&_code]:text-sm [&_pre]:mt-3 [&_pre]:overflow-x-auto [&_pre]:rounded-lg [&_pre]:border [&_pre]:border-line [&_pre]:bg-sunken [&_pre]:p-3",
  "[&_div]:mt-3 [&_div]:overflow-x-auto [&_table]:w-full [&_table]:text-left [&_th]:border-b [&_th]:border-line [&_th]:py-2 [&_th]:pr-4",
  "[&_td]:border-b [&_td]:border-line-soft [&_td]:py-2 [&_td]:pr-4 [&_td]:align-top",
].join(" ");
