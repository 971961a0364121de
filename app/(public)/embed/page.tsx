import type { Metadata } from "next";
import { EmbeddedPanel } from "@/components/embed/panel";

export const metadata: Metadata = { title: "Embed", robots: { index: false } };

/** A panel to be shown in a host page's frame (docs/guides/embed-in-your-site.md); who may frame it, server/web/frames.ts says. */
export default function EmbedPage() {
  return <EmbeddedPanel />;
}
