import { cva, type VariantProps } from "class-variance-authority";
import { LoaderCircle } from "lucide-react";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names";

export const buttonStyle = cva(
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors select-none disabled:pointer-events-none disabled:opacity-55 aria-disabled:pointer-events-none aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      variant: {
        // Forced-colours mode drops backgrounds but draws this transparent border.
        primary: "border border-transparent bg-primary text-on-primary shadow-card hover:bg-primary-hover",
        secondary: "border border-line bg-raised text-text shadow-card hover:bg-hover",
        ghost: "text-muted hover:bg-hover hover:text-text",
        danger: "border border-transparent bg-danger text-white shadow-card hover:bg-danger-hover",
        link: "text-link underline-offset-4 hover:underline",
      },
      size: {
        sm: "h-7 px-2.5 text-xs max-sm:h-9 [&_svg]:size-3.5",
        md: "h-8 px-3 text-sm max-sm:h-11",
        lg: "h-10 px-4 text-base max-sm:h-11",
        /** In a sentence. */
        link: "rounded text-sm",
        icon: "size-8",
        "icon-sm": "size-6 rounded [&_svg]:size-3.5",
      },
    },
    defaultVariants: { variant: "secondary", size: "md" },
  },
);

export type ButtonProps = ComponentProps<"button"> &
  VariantProps<typeof buttonStyle> & {
    /** Style the only child (a link) as a button. */
    asChild?: boolean;
    /** Shows a spinner and ignores clicks. The label stays, so the layout and screen readers keep it. */
    pending?: boolean;
  };

export function Button({
  className,
  variant,
  size,
  asChild,
  pending,
  disabled,
  children,
  ...rest
}: ButtonProps) {
  const classes = cn(buttonStyle({ variant, size }), className);
  if (asChild) {
    return (
      <Slot.Root className={classes} {...rest}>
        {children}
      </Slot.Root>
    );
  }
  return (
    <button
      type="button"
      className={classes}
      disabled={disabled || pending}
      aria-busy={pending || undefined}
      {...rest}
    >
      {pending && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </button>
  );
}
