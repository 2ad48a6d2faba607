import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { queries } from './api/client';
import { router } from './router';
import { ArrivalRefusal } from './sign-in/sign-in';
import { resolver, theme } from './theme/theme';

const colorScheme = localStorageColorSchemeManager({ key: 'svc:theme' });
/** Of this answer: styles that are made here need it. */
const nonce = document.querySelector<HTMLElement>('meta[property=csp-nonce]')?.nonce ?? '';
setNonce(nonce);

/** `refusal`: why what the address says did not sign in; null where it says nothing. */
export function App({ refusal }: { readonly refusal: unknown }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolver}
      colorSchemeManager={colorScheme}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <ArrivalRefusal value={refusal}>
          <RouterProvider router={router} />
        </ArrivalRefusal>
      </QueryClientProvider>
    </MantineProvider>
  );
}
