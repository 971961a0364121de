"use client";
import { cloneElement, type ReactElement, type ReactNode, useState } from "react";

/** The way a menu was opened; after a key press, its first item gets the focus. */
type Asked = "pointer" | "key";
export type MenuProps = { trigger: ReactElement; asked: Asked };

/** A button whose menu is loaded when it is first opened; the loaded menu renders the button, too. */
export function MenuButton({
  className,
  children,
  prepare,
  menu,
}: {
  className: string;
  children: ReactNode;
  prepare(): void;
  menu(props: MenuProps & { fallback: ReactElement }): ReactNode;
}) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const trigger = (
    <button type="button" className={className}>
      {children}
    </button>
  );
  const closed = cloneElement(trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: prepare,
    onFocus: prepare,
    onClick: ({ detail }: MouseEvent) => setAsked(detail === 0 ? "key" : "pointer"),
    onKeyDown(event: KeyboardEvent) {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      setAsked("key");
    },
  });
  return asked ? menu({ trigger, asked, fallback: closed }) : closed;
}
