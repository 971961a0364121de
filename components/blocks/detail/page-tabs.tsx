"use client";
import { useSearchParams } from "next/navigation";
import { type ReactNode, useEffect } from "react";
import Link from "@/components/ui/link";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";

const hrefOf = (id: string) => `?tab=${id}`;

/** The tabs of a page. The URL names the shown one as `?tab=receipt`; a link with `#receipt` opens it, too. */
export function PageTabs({
  label,
  aside,
  tabs,
}: {
  label: string;
  /** Content beside the tabs, whichever is chosen. */
  aside?: ReactNode;
  /** The first is shown if the URL names none. */
  tabs: readonly { id: string; name: string; content: ReactNode }[];
}) {
  const asked = useSearchParams().get("tab");
  const [first] = tabs;
  const chosen = tabs.find(({ id }) => id === asked) ?? first;
  const names = tabs.map(({ id }) => id).join();
  useEffect(() => {
    const id = /^#(\w+?)(-title)?$/.exec(window.location.hash)?.[1];
    if (!id || !names.split(",").includes(id)) return;
    // Next patches `history.replaceState` in an effect of its own, which runs after this one. An earlier call would bypass
    // the router.
    const timer = setTimeout(() => window.history.replaceState(null, "", hrefOf(id)));
    return () => clearTimeout(timer);
  }, [names]);
  return (
    <Tabs
      value={chosen?.id}
      onValueChange={(id) => {
        // A click chooses a tab twice, on press and on focus, but must add only one entry to the history.
        const { href } = new URL(
          id === first?.id ? window.location.pathname : hrefOf(id),
          window.location.href,
        );
        if (href !== window.location.href) window.history.pushState(null, "", href);
      }}
    >
      <div className="mb-5 flex items-end gap-3 border-b border-line">
        <TabsList aria-label={label} className="-mb-px gap-5 rounded-none bg-transparent p-0 ring-0">
          {tabs.map(({ id, name }) => (
            <TabsTrigger
              key={id}
              value={id}
              className="h-9 rounded-none border-b-2 border-transparent px-0.5 text-sm data-[state=active]:border-primary data-[state=active]:bg-transparent data-[state=active]:shadow-none data-[state=active]:ring-0"
            >
              {name}
            </TabsTrigger>
          ))}
        </TabsList>
        {aside && <div className="ml-auto self-center text-xs">{aside}</div>}
      </div>
      {tabs.map(({ id, content }) => (
        <TabsContent key={id} value={id} className="grid grid-cols-1 gap-5">
          {content}
        </TabsContent>
      ))}
    </Tabs>
  );
}

/** A link to one of the page's tabs. */
export function TabLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Link
      href={hrefOf(id)}
      className="rounded text-link hover:underline"
      onNavigate={(event) => {
        event.preventDefault();
        window.history.pushState(null, "", hrefOf(id));
      }}
    >
      {children}
    </Link>
  );
}
