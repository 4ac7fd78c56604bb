; Inno Setup 6.3 or later: an installer for one user, without an administrator, from the folder that PyInstaller makes.
; *Untried here*: it has not run on Windows. How it is called:
;   iscc /DVersion=0.1.0 packaging\windows\cfbatch.iss
; The user's data (%LOCALAPPDATA%\CF Batch) is never touched, also not by the uninstaller.

#ifndef Version
  #error Version is missing: iscc /DVersion=0.1.0 packaging\windows\cfbatch.iss
#endif
#ifndef Source
  #define Source "..\..\dist\cfbatch"
#endif

[Setup]
AppId={{7B6E2B0C-53A1-4F0B-9C1E-5F2B8E7B4C11}
AppName=CF Batch
AppVersion={#Version}
AppVerName=CF Batch {#Version}
AppPublisher=CF Batch contributors
AppPublisherURL=https://github.com/cfbatch/CFBatch
AppSupportURL=https://github.com/cfbatch/CFBatch/issues
AppUpdatesURL=https://github.com/cfbatch/CFBatch/releases
DefaultDirName={localappdata}\Programs\CF Batch
DefaultGroupName=CF Batch
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
LicenseFile=..\..\LICENSE
OutputDir=..\..\dist
OutputBaseFilename=cfbatch-{#Version}-windows-x86_64
UninstallDisplayIcon={app}\cfbatch-gui.exe
UninstallDisplayName=CF Batch
Compression=lzma2
SolidCompression=yes
WizardStyle=modern
ChangesAssociations=yes
ChangesEnvironment=yes
CloseApplications=yes

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[CustomMessages]
en.OpenWith=Offer CF Batch in “Open with” for tables and texts
de.OpenWith=CF Batch unter „Öffnen mit“ für Tabellen und Texte anbieten
en.OnPath=Use the command cfbatch in terminals
de.OnPath=Den Befehl cfbatch in Terminals verwenden

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; GroupDescription: "{cm:AdditionalIcons}"; Flags: unchecked
Name: "openwith"; Description: "{cm:OpenWith}"
Name: "onpath"; Description: "{cm:OnPath}"; Flags: unchecked

[Files]
Source: "{#Source}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs
Source: "..\..\LICENSE"; DestDir: "{app}"; Flags: ignoreversion

[InstallDelete]
; What an older version had and this one has not must not be found by Python.
Type: filesandordirs; Name: "{app}\_internal"

[Icons]
Name: "{autoprograms}\CF Batch"; Filename: "{app}\cfbatch-gui.exe"
Name: "{autodesktop}\CF Batch"; Filename: "{app}\cfbatch-gui.exe"; Tasks: desktopicon

[Registry]
; “Open with” only: no file type gets this program as its usual one.
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe"; ValueType: string; ValueName: "FriendlyAppName"; ValueData: "CF Batch"; Flags: uninsdeletekey; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\shell\open\command"; ValueType: string; ValueData: """{app}\cfbatch-gui.exe"" ""%1"""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".csv"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".tsv"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".xlsx"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".xls"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".ods"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".json"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".jsonl"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".ndjson"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".parquet"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".txt"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".md"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".docx"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".ris"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".nbib"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Classes\Applications\cfbatch-gui.exe\SupportedTypes"; ValueType: string; ValueName: ".bib"; ValueData: ""; Tasks: openwith
Root: HKCU; Subkey: "Software\Microsoft\Windows\CurrentVersion\App Paths\cfbatch.exe"; ValueType: string; ValueData: "{app}\cfbatch.exe"; Flags: uninsdeletekey
Root: HKCU; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Check: IsNotOnPath; Tasks: onpath

[Run]
Filename: "{app}\cfbatch-gui.exe"; Description: "{cm:LaunchProgram,CF Batch}"; Flags: nowait postinstall skipifsilent

[Code]
function IsNotOnPath: Boolean;
var
  Before: String;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Before) then
    Before := '';
  Result := Pos(';' + Lowercase(ExpandConstant('{app}')) + ';', ';' + Lowercase(Before) + ';') = 0;
end;

procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Before: String;
begin
  { The folder leaves PATH with the program; the user's data stays. }
  if (Step = usPostUninstall) and RegQueryStringValue(HKCU, 'Environment', 'Path', Before) then
    if StringChangeEx(Before, ';' + ExpandConstant('{app}'), '', True) > 0 then
      RegWriteExpandStringValue(HKCU, 'Environment', 'Path', Before);
end;
