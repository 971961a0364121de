import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { DocsPage, MARKDOWN_STYLES } from "@/components/docs/docs-page";
import { addressOf, contents, docsPages, htmlOf, pageAt, pageTitle } from "@/server/api/docs-pages";

/** Rendered once, at build time: the pages change only with the code. */
export const dynamic = "force-static";
export const dynamicParams = false;

type Props = { params: Promise<{ page: string[] }> };

export async function generateStaticParams(): Promise<{ page: string[] }[]> {
  const names = [...(await docsPages()).keys()].filter((name) => name !== "index.md");
  return names.map((name) => ({ page: addressOf(name).split("/").slice(2) }));
}

const find = async ({ params }: Props) => pageAt((await params).page.join("/"));

export async function generateMetadata(props: Props): Promise<Metadata> {
  const page = await find(props);
  return { title: page ? pageTitle(page.text) : "Documentation" };
}

/** A page of docs/, rendered from its Markdown. */
export default async function WrittenPage(props: Props) {
  const page = (await find(props)) ?? notFound();
  const html = htmlOf(page.name, page.text);
  const headings = [...html.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(([, id = "", title = ""]) => ({
    id,
    title: title
      .replace(/<[^>]+>/g, "")
      .replaceAll("&amp;", "&")
      .replaceAll("&#39;", "’"),
  }));
  return (
    <DocsPage contents={await contents()} current={addressOf(page.name)} headings={headings}>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the pages are our own */}
      <article className={MARKDOWN_STYLES} dangerouslySetInnerHTML={{ __html: html }} />
      <p className="mt-8 text-sm text-muted">
        <a className="text-link underline" href={`/docs/${page.name}`}>
          This page as Markdown
        </a>
      </p>
    </DocsPage>
  );
}
