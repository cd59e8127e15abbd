// The messages in Spanish, by area.
import account from './es/account.json'
import alerts from './es/alerts.json'
import common from './es/common.json'
import developer from './es/developer.json'
import device from './es/device.json'
import devices from './es/devices.json'
import form from './es/form.json'
import geofences from './es/geofences.json'
import groups from './es/groups.json'
import history from './es/history.json'
import maintenance from './es/maintenance.json'
import map from './es/map.json'
import notifications from './es/notifications.json'
import operator from './es/operator.json'
import reports from './es/reports.json'
import rules from './es/rules.json'
import settings from './es/settings.json'
import share from './es/share.json'
import shared from './es/shared.json'
import signin from './es/signin.json'
import sources from './es/sources.json'
import users from './es/users.json'
import welcome from './es/welcome.json'

export default {
  account,
  alerts,
  common,
  developer,
  device,
  devices,
  form,
  geofences,
  groups,
  history,
  maintenance,
  map,
  notifications,
  operator,
  reports,
  rules,
  settings,
  share,
  shared,
  signin,
  sources,
  users,
  welcome
}
