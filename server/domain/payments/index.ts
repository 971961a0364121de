export { type Applied, applyPaymentMessage } from "./apply";
export { type Purchase, startCheckout } from "./checkout";
export { definePaymentKind, type Paid, type PaymentKind } from "./kinds";
export { MOST_MESSAGE_BYTES, receiveStripeMessage } from "./messages";
export { openPortal, startPlanCheckout } from "./portal";
export { decideTestPayment, testPayment } from "./test-checkout";
export { checkoutOffered, payment, startTopUp } from "./top-up";
