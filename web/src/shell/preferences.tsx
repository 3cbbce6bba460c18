import { Clock, Contrast, Moon, Sun, SunMoon, UserRound } from 'lucide-react'
import { call, routes, useCall } from '../api.ts'
import { basePath } from '../base-path.ts'
import { serverVersion } from '../build.ts'
import { Menu } from '../parts/menu.tsx'
import { tell } from '../parts/toast.tsx'
import { personOf } from '../person.ts'
import { chooseTheme, type Theme, themes, useTheme } from '../theme.ts'
import { chooseZone, useZone, type Zone, zoneNames, zones } from '../zone.ts'

export const themeWords: Readonly<Record<Theme, string>> = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
  contrast: 'High contrast',
}
const themeIcons = { system: SunMoon, light: Sun, dark: Moon, contrast: Contrast } as const

export function ThemeMenu() {
  const theme = useTheme()
  return (
    <Menu
      label={`Theme: ${themeWords[theme]}`}
      icon={themeIcons[theme]}
      actions={themes.map((one) => ({
        id: one,
        label: themeWords[one],
        isChosen: one === theme,
        onAction: () => chooseTheme(one),
      }))}
    />
  )
}

export const zoneWords: Readonly<Record<Zone, string>> = { mine: 'My time', utc: 'UTC', server: 'The server’s time' }

export function ZoneMenu() {
  const zone = useZone()
  return (
    <Menu
      label={`Times: ${zoneWords[zone]}`}
      icon={Clock}
      actions={zones.map((one) => ({
        id: one,
        label: one === 'utc' ? zoneWords.utc : `${zoneWords[one]} (${zoneNames[one]})`,
        isChosen: one === zone,
        onAction: () => chooseZone(one),
      }))}
    />
  )
}

/** Who is signed in, as what, and the ways out. */
export function AccountMenu() {
  const { data: me } = useCall(routes.session.me)
  const signOut = async (everywhere: boolean) => {
    try {
      await call(routes.session.signOut, { body: { everywhere } })
      location.assign(`${basePath}/sign-in`)
    } catch (error) {
      tell(`You are still signed in: ${(error as Error).message}`, { isError: true })
    }
  }
  const role = me?.role ?? 'limited'
  const name = personOf(me?.name ?? 'unknown')
  return (
    <Menu
      label={`Account: ${name}, ${role}`}
      icon={UserRound}
      actions={[
        { id: 'here', label: `Sign out ${name} (${role})`, onAction: () => void signOut(false) },
        { id: 'everywhere', label: 'Sign out everywhere', onAction: () => void signOut(true) },
        ...(serverVersion === undefined
          ? []
          : [
              {
                id: 'about',
                label: `Millrace ${serverVersion}`,
                refusal: me?.until ? `Signed in until ${new Date(me.until).toLocaleDateString()}` : undefined,
                onAction: () => undefined,
              },
            ]),
      ]}
    />
  )
}
