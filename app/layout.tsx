import type { Metadata, Viewport } from "next";
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./globals.css";
import type { ReactNode } from "react";
import { ThemeProvider } from "@/components/shell/theme-provider";
import { Toaster } from "@/components/ui/toaster";

export const metadata: Metadata = {
  title: { default: "Capstan", template: "%s · Capstan" },
  description: "Execution control plane: discover a capability, get a quote, run it, keep the receipt.",
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f5f8f9" },
    { media: "(prefers-color-scheme: dark)", color: "#0a0f12" },
  ],
};

/** Keeps early submits from reloading the page. A form with its own `method`, such as sign-in, works without scripts. */
const HOLD_EARLY_FORMS =
  'addEventListener("submit",e=>{e.target.hasAttribute("method")||e.preventDefault()},true)';

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    // The theme's class is set before React starts, so the element differs from what the server wrote.
    <html lang="en" suppressHydrationWarning>
      <body>
        {/* Until its scripts run, the browser would submit a form itself and reload the page without its text. */}
        <script>{HOLD_EARLY_FORMS}</script>
        <ThemeProvider>
          {children}
          <Toaster />
        </ThemeProvider>
      </body>
    </html>
  );
}
