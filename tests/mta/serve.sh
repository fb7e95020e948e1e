#!/bin/sh
# serve.sh postfix|exim4|opensmtpd: inside a box, installs a mail server from the packages beside this script (no network),
# configures it for the domain mx.test with the one mailbox u1, and returns when it answers. Postfix and Exim take mail on
# port 587 by STARTTLS only, with a certificate of a private authority, /srv/ca.pem; /srv/other.pem is another one.
# OpenSMTPD takes it in plain on port 25: its TLS server does not work with the OpenSSL of Debian 12.
set -eu
exec 2>&1 </dev/null
server=$1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
# No index of manual pages: it takes longer than all the rest.
rm -f /var/lib/man-db/auto-update
echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections
dpkg -i --force-unsafe-io /formd/source/tests/mta/debs/"$server"/*.deb
useradd -m -s /usr/sbin/nologin u1
echo '127.0.0.1 localhost mx.test' >/etc/hosts
: >/etc/resolv.conf

cd /srv
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9 -subj "/CN=$1" \
        -addext basicConstraints=critical,CA:TRUE -keyout "$1.key" -out "$1.pem"
}
authority ca
authority other
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=mx.test -keyout mx.key -out mx.csr
printf 'subjectAltName=DNS:mx.test\n' >mx.ext
openssl x509 -req -in mx.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile mx.ext -out mx.pem

case $server in
postfix)
    port=587
    # A line end that is not CR LF is refused: the strictest reader of what formd writes.
    cat >/etc/postfix/main.cf <<C
compatibility_level = 3.6
myhostname = mx.test
mydestination = mx.test
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
home_mailbox = Maildir/
alias_maps =
message_size_limit = 20000000
smtpd_tls_cert_file = /srv/mx.pem
smtpd_tls_key_file = /srv/mx.key
smtpd_tls_security_level = encrypt
smtpd_tls_received_header = yes
smtpd_forbid_bare_newline = reject
smtpd_forbid_bare_newline_exclusions =
maillog_file = /var/log/postfix.log
C
    sed -i 's/^smtp *inet.*/587 inet n - n - - smtpd/' /etc/postfix/master.cf
    echo 'postlog unix-dgram n - n - 1 postlogd' >>/etc/postfix/master.cf
    postfix start
    ;;
exim4)
    port=587
    cat >/etc/exim4/exim4.conf <<'C'
primary_hostname = mx.test
daemon_smtp_ports = 587
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = /srv/mx.pem
tls_privatekey = /srv/mx.key
acl_smtp_rcpt = rcpt
begin acl
rcpt:
  require message = TLS is required
          encrypted = *
  require verify = recipient
  accept
begin routers
local:
  driver = accept
  domains = mx.test
  check_local_user
  transport = maildir
begin transports
maildir:
  driver = appendfile
  maildir_format
  return_path_add
  directory = /home/$local_part_data/Maildir
  user = u1
C
    chown Debian-exim mx.key
    exim4 -bd -q1m
    ;;
opensmtpd)
    port=25
    cat >/etc/smtpd.conf <<'C'
listen on 127.0.0.1 port 25 hostname mx.test
action "local" maildir
match from any for domain "mx.test" action "local"
C
    smtpd
    ;;
esac

tries=0
until bash -c ": </dev/tcp/127.0.0.1/$port" 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ]; then
        echo "$server does not answer on port $port"
        exit 1
    fi
    sleep 0.1
done
