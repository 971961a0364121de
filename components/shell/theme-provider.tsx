"use client";
import { ThemeProvider as Themes } from "next-themes";
import { createContext, type ReactNode, useContext, useState } from "react";

type Theme = "light" | "dark";
const Force = createContext<(theme: Theme) => void>(() => {});

/** Sets this page's theme while it is open, overriding the system and the reader's choice. Not stored. */
export const useForceTheme = () => useContext(Force);

/** Light or dark: the reader's choice, else the system's. Set before the first paint. */
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
