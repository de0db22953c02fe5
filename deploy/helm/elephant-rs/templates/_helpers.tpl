{{- /* The name of a CronJob has at most 52 characters, the last seven of which are "-ingest". */}}
{{- define "elephant-rs.name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) }}
{{- $name | trunc 45 | trimSuffix "-" }}
{{- end }}

{{- define "elephant-rs.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: serve
{{- end }}

{{- define "elephant-rs.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "elephant-rs.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "elephant-rs.store" -}}
{{- if eq .Values.store.kind "postgres" }}{{ .Values.store.postgres.address }}{{ else }}/var/lib/elephant-rs/fleet.db{{ end }}
{{- end }}

{{- define "elephant-rs.histories" -}}
{{- range $index, $history := .Values.histories }}
{{- if $index }}{{ "\n" }}{{ end }}
{{- $history.path | default $history.address | quote | printf "- %s" }}
{{- end }}
{{- end }}

{{- /* What the schema cannot say: values that only fit together. */}}
{{- define "elephant-rs.check" -}}
{{- if and (eq .Values.store.kind "sqlite") (gt (int .Values.replicas) 1) }}
{{- fail "store.kind sqlite has one replica; several need postgres" }}
{{- end }}
{{- if and .Values.ingress.enabled (eq .Values.access.mode "anyone") (not .Values.access.from) }}
{{- fail "access.mode anyone behind an ingress: name the ingress controller in access.from, or others in the cluster pass its login by" }}
{{- end }}
{{- end }}

{{- define "elephant-rs.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "elephant-rs.podSecurityContext" -}}
{{- $own := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- /* The volume of the store must be writable. Without one, no volume of others gets another group. */}}
{{- if eq .Values.store.kind "sqlite" }}
{{- $own = merge $own (dict "fsGroup" 65532 "fsGroupChangePolicy" "OnRootMismatch") }}
{{- end }}
{{- toYaml (merge (deepCopy .Values.podSecurityContext) $own) }}
{{- end }}

{{- define "elephant-rs.environment" -}}
{{- if or .Values.env (eq .Values.store.kind "postgres") -}}
env:
  {{- if eq .Values.store.kind "postgres" }}
  - name: PGPASSWORD
    valueFrom:
      secretKeyRef: {{ .Values.store.postgres.secret | toJson }}
  {{- end }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .Values.credentials }}
envFrom:
  {{- range . }}
  - secretRef: {name: {{ . | quote }}}
  {{- end }}
{{- end }}
{{- end }}

{{- define "elephant-rs.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if eq .Values.store.kind "sqlite" }}
- name: store
  mountPath: /var/lib/elephant-rs
{{- end }}
{{- range $index, $history := .Values.histories }}
{{- if $history.path }}
- name: histories-{{ $index }}
  mountPath: {{ $history.path | quote }}
  readOnly: true
{{- end }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "elephant-rs.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if eq .Values.store.kind "sqlite" }}
- name: store
  persistentVolumeClaim:
    claimName: {{ .Values.store.sqlite.existingClaim | default (include "elephant-rs.name" .) }}
{{- end }}
{{- range $index, $history := .Values.histories }}
{{- if $history.path }}
- name: histories-{{ $index }}
  {{- toYaml $history.volume | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* What all pods have, besides their containers. */}}
{{- define "elephant-rs.pod" -}}
serviceAccountName: {{ include "elephant-rs.name" . }}
automountServiceAccountToken: false
securityContext:
  {{- include "elephant-rs.podSecurityContext" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  {{- include "elephant-rs.volumes" . | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A container that runs the program with the arguments `args`. */}}
{{- define "elephant-rs.container" -}}
image: {{ include "elephant-rs.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "elephant-rs.securityContext" . | nindent 2 }}
{{- with include "elephant-rs.environment" . | trim }}
{{ . }}
{{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  {{- include "elephant-rs.mounts" . | nindent 2 }}
{{- end }}
