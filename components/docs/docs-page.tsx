import type { ReactNode } from "react";
import { Mark } from "@/components/brand/logo";

type Part = { part: string; pages: { address: string; title: string }[] };

/** A page beside its contents. On a narrow screen the contents follow the page, with a link to them. Works without scripts. */
export function DocsFrame({
  search,
  nav,
  aside,
  children,
}: {
  search?: ReactNode;
  nav: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}) {
  const column = "text-sm lg:sticky lg:top-8 lg:max-h-[calc(100dvh-4rem)] lg:self-start lg:overflow-y-auto";
  return (
    <div className="mx-auto grid max-w-7xl gap-x-10 gap-y-5 px-4 py-6 sm:px-6 lg:grid-cols-[15rem_minmax(0,1fr)] lg:py-8 xl:grid-cols-[15rem_minmax(0,1fr)_13rem]">
      <header className="flex items-center gap-4 text-sm lg:hidden">
        <Home />
        <a className="ml-auto text-link underline" href="#contents">
          Contents
        </a>
      </header>
      <div
        id="contents"
        className={`max-lg:order-last max-lg:border-t max-lg:border-line max-lg:pt-5 ${column}`}
      >
        <header className="mb-4 max-lg:hidden">
          <Home />
        </header>
        {search}
        {nav}
      </div>
      <main id="main" className="min-w-0">
        {children}
      </main>
      {aside && <div className={`max-xl:hidden ${column}`}>{aside}</div>}
    </div>
  );
}

const Home = () => (
  <a href="/" className="flex items-center gap-2 font-semibold">
    <Mark className="size-6 text-primary" /> Capstan
  </a>
);

/** A page of the documentation, with the list of pages, the search and its own headings. */
export function DocsPage({
  contents,
  current,
  q,
  headings = [],
  children,
}: {
  contents: Part[];
  /** The path of the shown page. */
  current?: string;
  q?: string;
  headings?: { id: string; title: string }[];
  children: ReactNode;
}) {
  return (
    <DocsFrame
      search={
        <search>
          <form method="get" action="/docs/search" className="mb-4">
            <input
              aria-label="Search the documentation"
              name="q"
              type="search"
              defaultValue={q}
              maxLength={200}
              placeholder="Search"
              className="h-9 w-full rounded-md border border-line-strong bg-surface px-3 text-base"
            />
          </form>
        </search>
      }
      nav={
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
              <Links of={pages} current={current} />
            </details>
          ))}
        </nav>
      }
      aside={
        headings.length > 1 && (
          <nav aria-label="On this page">
            <p className="py-1 font-semibold">On this page</p>
            <Links of={headings.map(({ id, title }) => ({ address: `#${id}`, title }))} />
          </nav>
        )
      }
    >
      {children}
    </DocsFrame>
  );
}

/** The links of one part of the contents. */
export const Links = ({
  of,
  current,
}: {
  of: { address: string; title: string }[];
  current?: string | undefined;
}) => (
  <ul>
    {of.map(({ address, title }) => (
      <li key={address}>
        <a
          className="block rounded py-1 text-muted hover:text-text aria-[current=page]:bg-hover aria-[current=page]:-mx-2 aria-[current=page]:px-2 aria-[current=page]:font-medium aria-[current=page]:text-text"
          href={address}
          aria-current={address === current ? "page" : undefined}
        >
          {title}
        </a>
      </li>
    ))}
  </ul>
);

/** Text with `code` in it. */
export const Ticked = ({ children }: { children: string }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text stay where they are
  children.split("`").map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part));

/** Styles for the elements of a Markdown page. */
export const MARKDOWN_STYLES = [
  "text-base leading-relaxed break-words",
  "[&_h1]:text-2xl [&_h1]:font-semibold",
  "[&_h2]:mt-8 [&_h2]:scroll-mt-6 [&_h2]:text-lg [&_h2]:font-semibold",
  "[&_h3]:mt-6 [&_h3]:scroll-mt-6 [&_h3]:font-semibold",
  "[&_p]:mt-3 [&_p]:max-w-[72ch] [&_li]:max-w-[72ch] [&_ul]:mt-3 [&_ul]:list-disc [&_ul]:pl-5 [&_ol]:mt-3 [&_ol]:list-decimal [&_ol]:pl-5 [&_li]:mt-1",
  "[&_a]:text-link [&_a]:underline",
  "[&_code]:text-sm [&_:not(pre)>code]:rounded [&_:not(pre)>code]:bg-sunken [&_:not(pre)>code]:px-1 [&_:not(pre)>code]:[overflow-wrap:anywhere] [&_pre]:mt-3 [&_pre]:overflow-x-auto [&_pre]:rounded-lg [&_pre]:border [&_pre]:border-line [&_pre]:bg-sunken [&_pre]:p-3",
  "[&_div]:mt-3 [&_div]:overflow-x-auto [&_table]:w-full [&_table]:text-left [&_th]:border-b [&_th]:border-line [&_th]:py-2 [&_th]:pr-4",
  "[&_td]:border-b [&_td]:border-line-soft [&_td]:py-2 [&_td]:pr-4 [&_td]:align-top",
].join(" ");
