"use client";
import { ThemeProvider as Themes } from "next-themes";
import { createContext, type ReactNode, useContext, useState } from "react";

type Theme = "light" | "dark";
const Force = createContext<(theme: Theme) => void>(() => {});

/** Says the theme of this page as long as it is open, over the system and what the reader chose elsewhere; kept nowhere. */
export const useForceTheme = () => useContext(Force);

/** Light or dark, by the system unless the reader chose; set before the first paint. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const [forced, setForced] = useState<Theme>();
  return (
    <Force value={setForced}>
      <Themes
        attribute="class"
        defaultTheme="system"
        enableSystem
        disableTransitionOnChange
        {...(forced && { forcedTheme: forced })}
      >
        {children}
      </Themes>
    </Force>
  );
}
