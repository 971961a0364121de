import type { Metadata } from "next";
import { DocsPage } from "@/components/docs/docs-page";
import { contents, searchDocs } from "@/server/api/docs-pages";

export const metadata: Metadata = { title: "Search the documentation" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

/** The pages that contain the words of `?q=`. */
export default async function SearchPage({ searchParams }: Props) {
  const given = (await searchParams).q;
  const q = (Array.isArray(given) ? given[0] : given)?.trim() ?? "";
  const hits = await searchDocs(q);
  return (
    <DocsPage contents={await contents()} q={q}>
      <h1 className="text-2xl font-semibold">Search</h1>
      <p className="mt-1 text-muted" role="status">
        {q === "" ? "Enter a word." : hits.length === 0 ? `No page has “${q}”.` : `Pages with “${q}”`}
      </p>
      <ul className="mt-4 grid gap-4">
        {hits.map(({ address, title, excerpt }) => (
          <li key={address}>
            <a className="font-semibold text-link underline" href={address}>
              {title}
            </a>
            <p className="break-words text-muted">{excerpt}</p>
          </li>
        ))}
      </ul>
    </DocsPage>
  );
}
