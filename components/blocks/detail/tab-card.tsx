import type { ReactNode } from "react";
import { CardBody, Section } from "@/components/ui/card";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";

/** One view of a card's content. A flush one reaches the card's edges, like a table. */
export type CardTab = { name: string; content: ReactNode; isFlush?: boolean };

type Props = {
  id: string;
  icon?: ReactNode;
  title: string;
  hint?: ReactNode;
  /** Names the choice for screen readers, such as "Output format". */
  label: string;
  /** The first is shown initially. */
  views: readonly CardTab[];
  isBusy?: boolean;
};

/** A card with several views of the same content. A single view has no tabs. */
export function TabCard({ id, icon, title, hint, label, views, isBusy }: Props) {
  const [first] = views;
  return (
    <Tabs key={first?.name} defaultValue={first?.name}>
      <Section
        icon={icon}
        title={title}
        id={id}
        hint={hint}
        actions={
          views.length > 1 && (
            <TabsList aria-label={label}>
              {views.map(({ name }) => (
                <TabsTrigger key={name} value={name}>
                  {name}
                </TabsTrigger>
              ))}
            </TabsList>
          )
        }
        isFlush
        aria-busy={isBusy}
      >
        {views.map(({ name, content, isFlush }) => (
          <TabsContent key={name} value={name}>
            {isFlush ? content : <CardBody>{content}</CardBody>}
          </TabsContent>
        ))}
      </Section>
    </Tabs>
  );
}
